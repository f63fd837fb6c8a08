#include "exec/control_message.h"

#include <sys/socket.h>

#include <string>

namespace muster::exec {

void send_control(int connection, char message, std::string_view text) {
  std::string packet(1, message);
  packet.append(text.substr(0, kControlBytesMax - 1));
  ::send(connection, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void send_refusal(int connection, std::string_view reason) {
  send_control(connection, kRefused, reason);
}

}  // namespace muster::exec
