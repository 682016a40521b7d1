"""The Pipecat bot that bench -- peers measures, alone in its process.

A call is the pipeline of Pipecat's own telephony template: FastAPI transport with the Twilio serializer, speech to text, user
aggregator (with Silero or without voice activity), responder, text to speech, transport, assistant aggregator. The two speech
services are written as Pipecat's own WebSocket services are, and talk to the benchmark's stand-ins.

Orders come as lines of JSON on standard input, answers go to standard output; see `../../capacity/child.ts`.
"""

import asyncio
import gc
import json
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator

import uvicorn
import uvloop
from fastapi import FastAPI, WebSocket
from loguru import logger
from websockets.protocol import State

# Pipecat may print; standard output carries answers alone.
ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
# Its default writes every debug line.
logger.remove()
logger.add(sys.stderr, level="ERROR")

from pipecat.audio.vad.silero import SileroVADAnalyzer  # noqa: E402
from pipecat.frames.frames import (  # noqa: E402
    ErrorFrame,
    Frame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMRunFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline  # noqa: E402
from pipecat.pipeline.worker import PipelineParams, PipelineWorker  # noqa: E402
from pipecat.processors.aggregators.llm_context import LLMContext  # noqa: E402
from pipecat.processors.aggregators.llm_response_universal import (  # noqa: E402
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor  # noqa: E402
from pipecat.runner.utils import parse_telephony_websocket  # noqa: E402
from pipecat.serializers.twilio import TwilioFrameSerializer  # noqa: E402
from pipecat.services.settings import STTSettings, TTSSettings  # noqa: E402
from pipecat.services.stt_service import WebsocketSTTService  # noqa: E402
from pipecat.services.tts_service import InterruptibleTTSService  # noqa: E402
from pipecat.transports.websocket.fastapi import (  # noqa: E402
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)
from pipecat.turns.user_start import TranscriptionUserTurnStartStrategy, VADUserTurnStartStrategy  # noqa: E402
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy  # noqa: E402
from pipecat.turns.user_turn_strategies import UserTurnStrategies  # noqa: E402
from pipecat.utils.time import time_now_iso8601  # noqa: E402
from pipecat.workers.runner import WorkerRunner  # noqa: E402

RATE_HZ = 8_000
# Of 20 s each: more than a row takes.
SENTENCES = 200
LOOP_PROBE_S = 0.02


class StandInRecogniser(WebsocketSTTService):
    """Sends the caller's PCM as it comes, and asks for the words when voice activity says that the caller has stopped."""

    def __init__(self, url: str):
        super().__init__(settings=STTSettings(model=None, language=None))
        self._url = url
        self._receive_task = None

    def can_generate_metrics(self) -> bool:
        return True

    async def setup(self, setup):
        await super().setup(setup)
        await self._connect()

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame) and self._is_open():
            FACTS["commits"] += 1
            await self._websocket.send("commit")

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        if self._is_open():
            await self._websocket.send(audio)
        yield None

    def _is_open(self) -> bool:
        return self._websocket is not None and self._websocket.state is State.OPEN

    async def _connect(self):
        await self._connect_websocket()
        await super()._connect()
        self._receive_task = self._receive_task or self.create_task(self._receive_task_handler(self._report_error))

    async def _disconnect(self):
        await super()._disconnect()
        if self._receive_task:
            await self.cancel_task(self._receive_task)
            self._receive_task = None
        await self._disconnect_websocket()

    async def _connect_websocket(self):
        self._websocket = await self._websocket_connect(self._url)
        await self._websocket.send(json.dumps({"type": "config", "sample_rate": self.sample_rate, "format": "pcm"}))

    async def _disconnect_websocket(self):
        websocket, self._websocket = self._websocket, None
        if websocket is not None and websocket.state is State.OPEN:
            await websocket.send("end")
            await websocket.close()

    async def _receive_messages(self):
        async for message in self._websocket:
            event = json.loads(message)
            if event["type"] == "final":
                await self.push_frame(TranscriptionFrame(event["text"], "", time_now_iso8601(), finalized=True))


class StandInSynthesizer(InterruptibleTTSService):
    """One text a request; its PCM comes in chunks until `completion`."""

    def __init__(self, url: str):
        super().__init__(
            pause_frame_processing=True,
            push_start_frame=True,
            settings=TTSSettings(model=None, voice="Nisha", language=None),
        )
        self._url = url
        self._receive_task = None

    def can_generate_metrics(self) -> bool:
        return True

    async def setup(self, setup):
        await super().setup(setup)
        await self._connect()

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        try:
            if self._websocket is None or self._websocket.state is State.CLOSED:
                await self._connect()
            request = {"input": text, "voice": self._settings.voice, "response_format": "pcm"}
            await self._websocket.send(json.dumps(request))
            yield None
        except Exception as error:
            yield ErrorFrame(error=f"no speech: {error}")

    async def _connect(self):
        await super()._connect()
        await self._connect_websocket()
        self._receive_task = self._receive_task or self.create_task(self._receive_task_handler(self._report_error))

    async def _disconnect(self):
        await super()._disconnect()
        if self._receive_task:
            await self.cancel_task(self._receive_task)
            self._receive_task = None
        await self._disconnect_websocket()

    async def _connect_websocket(self):
        self._websocket = await self._websocket_connect(self._url)

    async def _disconnect_websocket(self):
        websocket, self._websocket = self._websocket, None
        if websocket is not None:
            await websocket.close()

    async def _receive_messages(self):
        async for message in self._websocket:
            context_id = self.get_active_audio_context_id()
            if isinstance(message, bytes):
                frame = TTSAudioRawFrame(message, self.sample_rate, 1, context_id=context_id)
                await self.append_to_audio_context(context_id, frame)
            elif json.loads(message).get("type") == "completion":
                await self.append_to_audio_context(context_id, TTSStoppedFrame(context_id=context_id))
                await self.remove_audio_context(context_id)


class Responder(FrameProcessor):
    """In place of a language model: talks without end once the call begins, as the gateway's bot does in W2."""

    def __init__(self, call: int):
        super().__init__()
        self._call = call
        self._talks = False

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
        elif not self._talks:
            self._talks = True
            for sentence in range(SENTENCES):
                await self.push_frame(LLMFullResponseStartFrame())
                await self.push_frame(LLMTextFrame(f"This is call {self._call}, sentence {sentence}."))
                await self.push_frame(LLMFullResponseEndFrame())


FACTS = {"live": 0, "commits": 0}


async def run_call(websocket: WebSocket, speech: dict, with_silero: bool):
    """One call, from its socket to its end."""
    await websocket.accept()
    _, call = await parse_telephony_websocket(websocket)
    serializer = TwilioFrameSerializer(
        stream_sid=call["stream_id"],
        call_sid=call["call_id"],
        # The calls end by themselves, and there is no REST API here.
        params=TwilioFrameSerializer.InputParams(auto_hang_up=False),
    )
    transport = FastAPIWebsocketTransport(
        websocket=websocket,
        params=FastAPIWebsocketParams(
            audio_in_enabled=True, audio_out_enabled=True, add_wav_header=False, serializer=serializer
        ),
    )
    # The bot is not to be interrupted, as the gateway's is not in W2; no model tells the end of a turn, as none does there.
    turns = UserTurnStrategies(
        start=[
            VADUserTurnStartStrategy(enable_interruptions=False),
            TranscriptionUserTurnStartStrategy(enable_interruptions=False),
        ],
        stop=[SpeechTimeoutUserTurnStopStrategy()],
    )
    user, assistant = LLMContextAggregatorPair(
        LLMContext(),
        user_params=LLMUserAggregatorParams(
            user_turn_strategies=turns, vad_analyzer=SileroVADAnalyzer() if with_silero else None
        ),
    )
    worker = PipelineWorker(
        Pipeline(
            [
                transport.input(),
                StandInRecogniser(speech["asrUrl"].replace("http", "ws", 1)),
                user,
                Responder(int(websocket.query_params["call"])),
                StandInSynthesizer(speech["ttsUrl"].replace("http", "ws", 1)),
                transport.output(),
                assistant,
            ]
        ),
        params=PipelineParams(
            audio_in_sample_rate=RATE_HZ,
            audio_out_sample_rate=RATE_HZ,
            enable_metrics=True,
            enable_usage_metrics=True,
        ),
        # Its events for browsers: Twilio's serializer drops every one.
        enable_rtvi=False,
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)

    @transport.event_handler("on_client_connected")
    async def on_client_connected(_transport, _client):
        await worker.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport, _client):
        await runner.cancel()

    FACTS["live"] += 1
    try:
        await runner.run()
    finally:
        FACTS["live"] -= 1


class Pauses:
    """How late the event loop runs, and how long garbage collections take, in a stretch."""

    def __init__(self):
        self._late_ms: list[float] = []
        self._longest_gc_s = 0.0
        self._gc_since = 0.0
        self._probe: asyncio.Task | None = None
        gc.callbacks.append(self._collects)

    def begin(self):
        self._late_ms, self._longest_gc_s = [], 0.0
        self._probe = asyncio.create_task(self._watch())

    def end(self) -> dict:
        if self._probe is not None:
            self._probe.cancel()
        late = sorted(self._late_ms) or [0.0]
        return {"loopP99Ms": late[int(0.99 * (len(late) - 1))], "longestGcMs": 1000 * self._longest_gc_s}

    async def _watch(self):
        while True:
            since = time.perf_counter()
            await asyncio.sleep(LOOP_PROBE_S)
            self._late_ms.append(1000 * (time.perf_counter() - since - LOOP_PROBE_S))

    def _collects(self, phase: str, _info: dict):
        if phase == "start":
            self._gc_since = time.perf_counter()
        else:
            self._longest_gc_s = max(self._longest_gc_s, time.perf_counter() - self._gc_since)


def answer(message: dict):
    ANSWERS.write(json.dumps(message) + "\n")


async def serve_orders(with_silero: bool):
    """Obeys until standard input ends."""
    app = FastAPI()
    speech: dict = {}
    pauses = Pauses()

    @app.websocket("/")
    async def call(websocket: WebSocket):
        await run_call(websocket, speech, with_silero)

    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    async for line in orders:
        message = json.loads(line)
        match message["order"]:
            case "start":
                speech.update(message["argument"])
                answer({"type": "ready", "url": f"ws://127.0.0.1:{listening.getsockname()[1]}"})
            case "measure":
                pauses.begin()
            case "report":
                answer({"type": "report", **pauses.end()})
            case "facts":
                answer({"type": "facts", "facts": FACTS})
    server.should_exit = server.force_exit = True
    await serving


if __name__ == "__main__":
    uvloop.run(serve_orders(with_silero="--silero" in sys.argv))
