"""A bot's server: it gets one POST a turn and answers with what to say. Needs Python 3.8 or newer and nothing else.

DESK_SECRET, when set, is the secret of `secretEnv` in config/bots/desk.yaml: requests without its signature are refused.
"""
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("DESK_SECRET", "")
PORT = int(os.environ.get("DESK_PORT", "8090"))
ASK_FOR_TIME = {"type": "gather", "contract": {"kind": "time", "from": "09:00", "to": "17:00"}}


def answer(turn):
    """What the bot does in one turn: texts and actions, in order."""
    given = turn["input"]
    if given["kind"] == "start":
        return ["Hello, this is the front desk. At what time would you like to come?", ASK_FOR_TIME]
    reading = given.get("answer", {})
    if reading.get("status") != "complete":
        return ["Sorry, at what time? You can say, for example, half past ten.", ASK_FOR_TIME]
    at = reading["value"]
    return [
        {"type": "set", "variables": {"time": at}},
        f"You are booked at {at}. Goodbye.",
        {"type": "hangup", "reason": "booked"},
    ]


def is_signed(headers, body):
    """Standard Webhooks: HMAC-SHA256 over id, time and body."""
    if not SECRET:
        return True
    sent_at = headers.get("webhook-timestamp", "0")
    if abs(time.time() - int(sent_at)) > 300:
        return False
    key = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in headers.get("webhook-signature", "").split())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if is_signed(self.headers, body):
            self.reply(200, answer(json.loads(body)))
        else:
            self.reply(401, {"error": "the signature is missing or wrong"})

    def reply(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        """Callers' words don't belong in a log."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
