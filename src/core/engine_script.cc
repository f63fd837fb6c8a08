#include "core/engine_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/check.h"

namespace muster::core::testing {
namespace {

// Splits at spaces, keeping what is in double quotes together.
std::vector<std::string> split_words(const std::string& text, char separator = ' ') {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::map<std::string, std::string> arguments_of(const std::vector<std::string>& words) {
  std::map<std::string, std::string> args;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      args[word] = "";
    } else {
      args[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return args;
}

std::string get(const std::map<std::string, std::string>& args, const std::string& key,
                const std::string& otherwise) {
  const auto found = args.find(key);
  return found == args.end() ? otherwise : found->second;
}

constexpr Timestamp kStart{1'000'000'000'000'000};  // 2001-09-09T01:46:40Z

Timestamp relative(const std::string& text, Timestamp now) { return now + *parse_duration(text); }

}  // namespace

EngineScript::EngineScript() : now_(kStart) {
  options_.instance_id = "controller-1";
  options_.workers = 2;
  engine_ = std::make_unique<Engine>(options_);
  (void)engine_->start(now_);
}

std::string EngineScript::name_of(const ActionId& id) const {
  const ActionPtr action = latest(id);
  return action ? action->spec->name : id.short_id();
}

ActionPtr EngineScript::latest(const ActionId& id) const {
  const auto found = actions_.find(id);
  return found == actions_.end() ? nullptr : found->second;
}

ActionId EngineScript::id_of(const std::string& name) const {
  if (const auto id = Uuid::parse(name)) return *id;
  for (const auto& [id, action] : actions_) {
    if (action->spec->name == name) return id;
  }
  return Uuid::v4(0xffffffff00000000ULL + std::hash<std::string>()(name) % 1000, 0);
}

std::string EngineScript::run(const std::string& line) {
  Words words = split_words(line);
  const std::string command = words.front();
  words.erase(words.begin());
  const Args args = arguments_of(words);
  const std::string first = words.empty() ? "" : words.front();
  const std::string who = get(args, "who", "alice");
  const std::string reason = get(args, "reason", "");
  if (command == "submit") return step(submit(line.substr(command.size())));
  if (command == "advance") return advance(*parse_duration(first), !args.contains("silent"));
  if (command == "restart") return restart();
  if (command == "explain") return explain(first);
  if (command == "tick") return step(Tick{});
  if (command == "lookups" && first == "wait") {
    answers_wait_ = true;
    return "(nothing)\n";
  }
  if (command == "lookups" && first == "answered") return answer_late();
  if (command == "connect") {
    AgentIdentity identity;
    identity.name = first;
    identity.journal_id = get(args, "journal", "journal-of-" + first);
    identity.kinds = {"exec", "noop", "sleep"};
    const SessionId opened = ++last_session_;
    if (!args.contains("rival")) sessions_[first] = opened;
    return step(AgentConnected{opened, identity});
  }
  if (command == "disconnect") return step(AgentDisconnected{session(first), "gone"});
  if (command == "heartbeat") {
    return step(AgentHeartbeat{session(first), get(args, "problem", "")});
  }
  if (command == "unreadable") {
    // As a controller finds it that quarantines a record.
    return actions_.erase(id_of(first)) == 1 ? "(nothing)\n" : "no such record\n";
  }
  if (command == "sync") {
    AgentSyncPage page{
        .session = session(first), .sync = 0, .actions = {}, .last = !args.contains("more")};
    page.sync = std::stoull(get(args, "number", "0"));
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].starts_with("number=") || words[i] == "more") continue;
      const Words parts = split_words(words[i], ':');
      page.actions.push_back(agent_action(parts[0], {"", "", parts[1]}, arguments_of(parts)));
    }
    return step(page);
  }
  if (command == "report") {
    return step(AgentReport{session(first), agent_action(words[1], words, args)});
  }
  if (command == "job") {
    const ActionPtr action = latest(id_of(first));
    return step(
        JobDone{action->id(), action->attempt, *parse_execute_result(words[1]), reason, "{}"});
  }
  if (command == "job-status") {
    const ActionPtr action = latest(id_of(first));
    return step(JobStatus{action->id(), action->attempt, words[1] == "suspended"});
  }
  if (command == "signal") {
    SignalRequest request{++last_request_, who,   id_of(first), *parse_signal(words[1]),
                          reason,          false, std::nullopt};
    request.force = args.contains("force");
    if (args.contains("revision")) request.if_revision = std::stoull(args.at("revision"));
    return step(request);
  }
  if (command == "approve" || command == "reject") {
    DecideRequest request{++last_request_,      who,    id_of(first),
                          command == "approve", reason, std::nullopt};
    if (args.contains("revision")) request.if_revision = std::stoull(args.at("revision"));
    return step(request);
  }
  if (command == "refresh") return step(RefreshRequest{++last_request_, who, first});
  check_failed("command", fmt::format("no such command in a script: '{}'", command),
               std::source_location::current());
}

Input EngineScript::submit(const std::string& arguments) {
  Submit submit;
  submit.request = ++last_request_;
  submit.who = "alice";
  for (const std::string& text : split_words(arguments, ';')) {
    const Args args = arguments_of(split_words(text));
    submit.who = get(args, "who", submit.who);
    submit.only_check = submit.only_check || args.contains("check");
    if (args.contains("key")) {
      submit.idempotency = IdempotencyKey{args.at("key"), get(args, "digest", "d")};
    }
    submit.actions.push_back(action_request(text));
    submit.fresh_ids.push_back(Uuid::v4(++last_id_ << 32, 0));
  }
  return submit;
}

ActionRequest EngineScript::action_request(const std::string& text) {
  const Args args = arguments_of(split_words(text));
  ActionRequest request;
  request.name = get(args, "name", "");
  request.kind = get(args, "kind", "noop");
  request.target = get(args, "target", "");
  request.depends_on = split_words(get(args, "after", ""), ',');
  request.depended_by = split_words(get(args, "before", ""), ',');
  if (args.contains("id")) request.id = *Uuid::parse(args.at("id"));
  if (args.contains("parent")) request.parent = id_of(args.at("parent"));
  if (args.contains("timeout")) request.timeout = *parse_duration(args.at("timeout"));
  if (args.contains("queue-timeout")) {
    request.queue_timeout = *parse_duration(args.at("queue-timeout"));
  }
  if (args.contains("wrong")) request.kind.clear();
  if (args.contains("interval")) request.interval = *parse_duration(args.at("interval"));
  if (args.contains("run-once")) request.misfire = Misfire::RunOnce;
  if (args.contains("start-in")) request.not_before = relative(args.at("start-in"), now_);
  if (args.contains("stop-in")) request.not_after = relative(args.at("stop-in"), now_);
  if (args.contains("attempts")) {
    request.retry.attempts = static_cast<std::uint32_t>(std::stoul(args.at("attempts")));
  }
  if (args.contains("approvals")) {
    request.approval = ApprovalPolicy{};
    request.approval->count = static_cast<std::uint32_t>(std::stoul(args.at("approvals")));
    request.approval->allow_requester = args.contains("allow-requester");
  }
  request.hold = args.contains("hold");
  return request;
}

AgentAction EngineScript::agent_action(const std::string& name, const Words& words,
                                       const Args& args) {
  AgentAction told;
  told.id = id_of(name);
  const ActionPtr known = latest(told.id);
  told.attempt = known ? known->attempt : 1;
  if (args.contains("attempt")) {
    told.attempt = static_cast<std::uint32_t>(std::stoul(args.at("attempt")));
  }
  told.status = *parse_status(words[2]);
  told.reason = get(args, "reason", "");
  switch (told.status) {
    case Status::Succeeded:
      told.result = ExecuteResult::Ok;
      break;
    case Status::Cancelled:
      told.result = ExecuteResult::Cancel;
      break;
    default:
      told.result = ExecuteResult::Error;
      break;
  }
  if (args.contains("result")) told.result = *parse_execute_result(args.at("result"));
  if (told.status != Status::New) told.start_time = now_;
  if (is_final(told.status)) told.stop_time = now_;
  if (args.contains("own")) {
    told.origin = Origin::Agent;
    told.name = args.at("own");
    told.kind = "exec";
    told.requested_by = "root";
    told.created_at = now_;
    told.inputs = get(args, "inputs", told.inputs);
  }
  return told;
}

std::string EngineScript::step(Input input) {
  const Effects effects = engine_->step(now_, input);
  std::string text = describe(effects);
  text += answer_lookups(effects);
  return text.empty() ? "(nothing)\n" : text;
}

std::string EngineScript::answer_lookups(const Effects& effects) {
  std::string text;
  for (const Lookup& lookup : effects.lookups) {
    LookupDone done{.lookup = lookup.lookup, .found = {}};
    for (const auto& [id, action] : actions_) {
      const bool wanted =
          std::count(lookup.ids.begin(), lookup.ids.end(), id) > 0 ||
          std::count(lookup.names.begin(), lookup.names.end(), action->spec->name) > 0;
      if (wanted && action->is_final()) done.found.push_back(action);
      const bool has_prefix =
          std::any_of(lookup.prefixes.begin(), lookup.prefixes.end(),
                      [&](const auto& prefix) { return id.to_string().starts_with(prefix); });
      if (has_prefix) done.found.push_back(action);
    }
    if (answers_wait_) {
      text += "lookup\n";
      late_.push_back(std::move(done));
    } else {
      text += answer(done);
    }
  }
  return text;
}

std::string EngineScript::answer(const LookupDone& done) {
  const Effects next = engine_->step(now_, done);
  return fmt::format("lookup: {} found\n", done.found.size()) + describe(next) +
         answer_lookups(next);
}

std::string EngineScript::answer_late() {
  answers_wait_ = false;
  std::string text;
  for (const LookupDone& done : std::exchange(late_, {})) text += answer(done);
  return text.empty() ? "(nothing)\n" : text;
}

std::string EngineScript::describe_put(const ActionPtr& action) {
  const ActionPtr old = latest(action->id());
  if (old && old->status != action->status) transitions_.emplace(old->status, action->status);
  actions_[action->id()] = action;
  std::string text = fmt::format("put {} {}", action->spec->name, name(action->status));
  if (action->attempt != 1) text += fmt::format(" attempt={}", action->attempt);
  if (action->runs != 0) text += fmt::format(" runs={}", action->runs);
  if (action->sent) text += " sent";
  if (action->control != Signal::None) text += fmt::format(" control={}", name(action->control));
  if (action->next_try > now_) {
    text += fmt::format(" next_try=+{}", format_duration(action->next_try - now_));
  }
  if (action->deadline.is_set()) {
    text += fmt::format(" deadline=+{}", format_duration(action->deadline - now_));
  }
  if (!action->status_reason.empty()) text += fmt::format(" \"{}\"", action->status_reason);
  return text + "\n";
}

std::string EngineScript::describe_send(const AgentSend& send) const {
  std::string agent = fmt::format("session {}", send.session);
  for (const auto& [name, id] : sessions_) {
    if (id == send.session) agent = name;
  }
  struct Visitor {
    const EngineScript& script;
    std::string operator()(const SendSchedule& m) const {
      return fmt::format("schedule {}#{}", m.action->spec->name, m.action->attempt);
    }
    std::string operator()(const SendSignal& m) const {
      return fmt::format("signal {} {}#{}", name(m.signal), script.name_of(m.id), m.attempt);
    }
    std::string operator()(const SendAck& m) const {
      return fmt::format("ack {}#{}", script.name_of(m.id), m.attempt);
    }
    std::string operator()(const SendSyncRequest& m) const {
      return fmt::format("sync-request {}", m.sync);
    }
    std::string operator()(const CloseSession& m) const {
      return fmt::format("close \"{}\"", m.reason);
    }
  };
  return fmt::format("send {}: {}\n", agent, std::visit(Visitor{*this}, send.message));
}

std::string EngineScript::describe(const Effects& effects) {
  std::string text;
  for (const Write& write : effects.writes) {
    if (const auto* put = std::get_if<PutAction>(&write)) text += describe_put(put->action);
    if (const auto* agent = std::get_if<PutAgent>(&write)) {
      agents_[agent->agent->identity.name] = agent->agent;
      text += fmt::format("put agent {} {} \"{}\"\n", agent->agent->identity.name,
                          name(agent->agent->state), agent->agent->state_reason);
    }
    if (const auto* key = std::get_if<PutIdempotency>(&write)) {
      keys_[key->key] = *key;
      text += fmt::format("put key {}\n", key->key);
    }
    if (const auto* key = std::get_if<DropIdempotency>(&write)) {
      keys_.erase(key->key);
      text += fmt::format("drop key {}\n", key->key);
    }
    if (const auto* append = std::get_if<AppendEvent>(&write)) {
      const Event& event = append->event;
      MUSTER_CHECK(event.seq == last_event_ + 1, "event {} after {}", event.seq, last_event_);
      last_event_ = event.seq;
      text += fmt::format("event {} {} {}\n", event.type,
                          event.name.empty() ? event.subject : event.name, event.status);
    }
  }
  for (const AgentSend& send : effects.sends) text += describe_send(send);
  for (const Job& job : effects.jobs) {
    if (const auto* start = std::get_if<StartJob>(&job)) {
      text += fmt::format("job start {}#{}\n", start->action->spec->name, start->action->attempt);
    } else {
      const auto& signal = std::get<SignalJob>(job);
      text +=
          fmt::format("job {} {}#{}\n", name(signal.signal), name_of(signal.id), signal.attempt);
    }
  }
  for (const Reply& reply : effects.replies) {
    if (const auto* error = std::get_if<Error>(&reply.body)) {
      text += fmt::format("reply {}: {}\n", name(error->code), error->message);
      for (const FieldError& field : error->fields) {
        text += fmt::format("  {} {}: {}\n", field.pointer, name(field.code), field.detail);
      }
    } else if (const auto* submitted = std::get_if<SubmitReply>(&reply.body)) {
      text += "reply ok";
      for (const ActionPtr& action : submitted->actions) text += " " + action->spec->name;
      for (const ActionId& id : submitted->replayed) text += " replayed:" + name_of(id);
      text += "\n";
    } else if (const auto* one = std::get_if<ActionReply>(&reply.body)) {
      text += fmt::format("reply ok {} {} revision={}\n", one->action->spec->name,
                          name(one->action->status), one->action->revision);
    } else {
      text += fmt::format("reply ok {}\n",
                          fmt::join(std::get<RefreshReply>(reply.body).refreshed, " "));
    }
  }
  return text;
}

std::string EngineScript::advance(Duration duration, bool heartbeats) {
  constexpr Duration kHeartbeat = Duration::seconds(14);
  const Timestamp end = now_ + duration;
  Timestamp beat = now_;
  std::string text;
  while (true) {
    const auto deadline = engine_->next_deadline();
    if (!deadline || *deadline > end) break;
    const bool beats = heartbeats && beat + kHeartbeat < *deadline;
    now_ = std::max(now_, beats ? beat + kHeartbeat : *deadline);
    beat = now_;
    std::string happened;
    for (const auto& [agent, id] : sessions_) {
      if (!heartbeats || engine_->session_of(agent) != id) continue;
      const Effects effects = engine_->step(now_, AgentHeartbeat{id});
      happened += describe(effects) + answer_lookups(effects);
    }
    const Effects effects = engine_->step(now_, Tick{});
    happened += describe(effects) + answer_lookups(effects);
    if (!happened.empty()) {
      text += fmt::format("at +{}:\n{}", format_duration(now_ - kStart), happened);
    }
  }
  now_ = end;
  return text.empty() ? "(nothing)\n" : text;
}

std::string EngineScript::restart() {
  engine_ = std::make_unique<Engine>(options_);
  for (const auto& [name, agent] : agents_) engine_->restore_agent(agent);
  for (const auto& [id, action] : actions_) {
    if (!action->is_final()) engine_->restore_action(action);
  }
  for (const auto& [key, record] : keys_) engine_->restore_idempotency(record);
  engine_->restore_event_seq(last_event_);
  engine_->restore_action_seq(last_id_);
  sessions_.clear();
  const Effects effects = engine_->start(now_);
  const std::string text = describe(effects);
  return text.empty() ? "(nothing)\n" : text;
}

std::string EngineScript::explain(const std::string& name) {
  const auto explanation = engine_->explain(id_of(name), now_);
  if (!explanation) return "not live\n";
  std::string text = explanation->summary + "\n";
  for (const Blocker& blocker : explanation->blockers) {
    text += fmt::format("  {} {}: {} (for {})\n", blocker.what, blocker.subject, blocker.detail,
                        format_age(now_ - blocker.since));
  }
  if (explanation->deadline.is_set()) {
    text += fmt::format("  in {}: {}\n", format_duration(explanation->deadline - now_),
                        explanation->deadline_effect);
  }
  return text;
}

}  // namespace muster::core::testing
