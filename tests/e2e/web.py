"""A small HTTP server on loopback that a test scripts and asks what it saw."""

import http.server
import threading


class Web:
    """Answers each path with what `routes` says: a status, a list of statuses to be used up one by
    one, or a function of the handler."""

    def __init__(self):
        self.routes = {}
        self.requests = []  # (method, path, headers, body)
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                web.requests.append((self.command, self.path, dict(self.headers), body))
                route = web.routes.get(self.path, 404)
                if callable(route):
                    route(self)
                    return
                if isinstance(route, list):
                    route = route.pop(0) if len(route) > 1 else route[0]
                self.send_response(route)
                self.send_header("Content-Length", "2")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(b"ok")

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = answer

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def url(self, path):
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def seen(self, path):
        return [request for request in self.requests if request[1] == path]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def serve_bytes(data, break_first_after=None):
    """A route that serves `data` with ranges; the first answer may break off in the middle."""
    state = {"broken": break_first_after is None}

    def route(handler):
        start = 0
        wanted = handler.headers.get("Range", "")
        if wanted.startswith("bytes="):
            start = int(wanted[len("bytes="):].split("-")[0])
        body = data[start:]
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("ETag", '"one"')
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if not state["broken"]:
            state["broken"] = True
            handler.wfile.write(body[:break_first_after])
            handler.wfile.flush()
            handler.connection.close()
            handler.close_connection = True
            return
        handler.wfile.write(body)
    return route
