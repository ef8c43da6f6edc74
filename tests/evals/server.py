"""A model server that says what a script says, in the dialects of OpenAI (Chat Completions and
Responses), Anthropic and Google, each as far as judges and agents use it.

    with ScriptedServer(lambda asked: '{"score": 7}') as server:
        base_url = server.base_url("anthropic")
        ...
    server.asked  # every request, in order of arrival
"""

import json
import math
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    """One request, the same for every dialect."""

    dialect: str  # openai, responses, anthropic, google
    model: str
    system: str
    user: str
    images: int
    schema: dict | None
    headers: dict
    body: dict


@dataclass(frozen=True)
class Answer:
    """What the server says. `tokens` are (token, {alternative: probability}) of the whole text."""

    text: str = ""
    status: int = 200
    model: str = ""  # as reported; "" = the one asked for
    stop: str = "stop"  # or "length", "refused"
    input_tokens: int = 100
    output_tokens: int = 20
    tokens: list | None = None
    headers: dict = field(default_factory=dict)


class ScriptedServer:
    """Answers on a port of its own, from threads of its own, until the block ends."""

    def __init__(self, script):
        self.script = script
        self.asked = []
        self._lock = threading.Lock()

    def __enter__(self):
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def base_url(self, provider):
        """What a client of the provider is given as base address."""
        return self.address + ("/v1" if provider in ("openai", "openai-api") else "")

    def answer(self, asked):
        with self._lock:
            self.asked.append(asked)
        said = self.script(asked)
        return Answer(said) if isinstance(said, str) else said


class _Http(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that is gone (tests kill workers) is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(server):
    return type("ScriptedHandler", (_Handler,), {"server_of_script": server})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for ending, (read, write) in DIALECTS.items():
            if self.path.split("?")[0].endswith(ending):
                asked = read(self.path, body, dict(self.headers))
                return self.reply(self.server_of_script.answer(asked), asked, write)
        return self.send(404, {"error": {"message": self.path}}, {})

    def reply(self, answer, asked, write):
        if answer.status != 200:
            error = {"message": "scripted", "type": "scripted", "code": answer.status}
            return self.send(answer.status, {"type": "error", "error": error}, answer.headers)
        return self.send(200, write(answer, answer.model or asked.model), answer.headers)

    def send(self, status, value, headers):
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def _parts(content):
    """Text and number of images of a message's content."""
    if isinstance(content, str):
        return content, 0
    texts = [part["text"] for part in content if "text" in part]
    return "\n".join(texts), sum("text" not in part for part in content)


def _read_openai(_path, body, headers):
    system = "\n".join(
        _parts(m["content"])[0] for m in body["messages"] if m["role"] in ("system", "developer")
    )
    user, images = _parts([m for m in body["messages"] if m["role"] == "user"][-1]["content"])
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    return Asked("openai", body["model"], system, user, images, schema, headers, body)


def _write_openai(answer, model):
    message = {"role": "assistant", "content": answer.text}
    if answer.stop == "refused":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    finish = "length" if answer.stop == "length" else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    if answer.tokens is not None:
        choice["logprobs"] = {"content": [_logprob(*token) for token in answer.tokens]}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }  # fmt: skip


def _logprob(token, alternatives):
    top = [{"token": t, "logprob": math.log(p), "bytes": None} for t, p in alternatives.items()]
    return {
        "token": token,
        "logprob": math.log(alternatives.get(token, 1.0)),
        "bytes": None,
        "top_logprobs": top,
    }


def _read_responses(_path, body, headers):
    messages = (
        body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    )
    system = "\n".join(_parts(m["content"])[0] for m in messages if m["role"] in ("system", "developer"))
    user, images = _parts([m for m in messages if m["role"] == "user"][-1]["content"])
    schema = ((body.get("text") or {}).get("format") or {}).get("schema")
    return Asked("responses", body["model"], system, user, images, schema, headers, body)


def _write_responses(answer, model):
    content = [{"type": "output_text", "text": answer.text, "annotations": []}]
    cut = answer.stop == "length"
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [
            {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content},
        ],
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "error": None,
        "usage": {
            "input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def _read_anthropic(_path, body, headers):
    system = _parts(body.get("system") or "")[0]
    user, images = _parts(body["messages"][-1]["content"])
    output = body.get("output_config") or body.get("output_format") or {}
    schema = (output.get("format") or output).get("schema")
    return Asked("anthropic", body["model"], system, user, images, schema, headers, body)


def _write_anthropic(answer, model):
    stop = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}[answer.stop]
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": answer.text}], "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens},
    }  # fmt: skip


def _read_google(path, body, headers):
    model = path.split("/models/")[1].split(":")[0]
    system = _parts((body.get("systemInstruction") or {}).get("parts") or [])[0]
    user, images = _parts(body["contents"][-1]["parts"])
    config = body.get("generationConfig") or {}
    schema = config.get("responseSchema") or config.get("responseJsonSchema")
    return Asked("google", model, system, user, images, schema, headers, body)


def _write_google(answer, model):
    stop = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[answer.stop]
    parts = [{"text": answer.text}] if answer.text else []
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop, "index": 0}],
        "modelVersion": model,
        "responseId": "g1",
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens + answer.output_tokens,
        },
    }


DIALECTS = {
    "/chat/completions": (_read_openai, _write_openai),
    "/responses": (_read_responses, _write_responses),
    "/messages": (_read_anthropic, _write_anthropic),
    ":generateContent": (_read_google, _write_google),
}
