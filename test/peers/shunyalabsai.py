"""The platform vendor's own client, unmodified, against the embedded platform: what it hears and says, as one JSON line."""

import asyncio
import io
import json
import sys
import wave

from shunyalabs import AsyncShunyaClient, ShunyaClient
from shunyalabs.asr import StreamingConfig, StreamingMessageType, TranscriptionConfig
from shunyalabs.tts import TTSConfig

recording = sys.argv[1]
speech = TTSConfig(model="zero-indic", voice="Rajesh", language="en")


async def caught(task):
    """What a failure looks like to somebody who uses the package."""
    try:
        await task
        return "no error"
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


async def streamed_recognition(client, turns):
    """Sends the recording once a turn and commits it; then ends the session."""
    events = []
    connection = await client.asr.stream(config=StreamingConfig(language="en", sample_rate=16000))

    def keep(message):
        events.append([str(message.type), message.segment_id, getattr(message, "text", None)])

    for kind in (StreamingMessageType.FINAL, StreamingMessageType.UTTERANCE_END, StreamingMessageType.ERROR):
        connection.on(kind, keep)
    with wave.open(recording) as file:
        pcm = file.readframes(file.getnframes())
    for _turn in range(turns):
        for at in range(0, len(pcm), 4096):
            await connection.send_audio(pcm[at : at + 4096])
        await connection.commit()
    await connection.end()
    # Handlers run as tasks of their own.
    while len(events) < 2 * turns:
        await asyncio.sleep(0.01)
    await connection.close()
    return sorted(events)


async def endpointed_recognition(client):
    """Never commits: the platform is asked to end a turn after 300 ms of silence."""
    heard = asyncio.Event()
    connection = await client.asr.stream(config=StreamingConfig(language="en", sample_rate=16000, endpoint_silence_ms=300))
    connection.on(StreamingMessageType.UTTERANCE_END, lambda _message: loop.call_soon_threadsafe(heard.set))
    loop = asyncio.get_running_loop()
    with wave.open(recording) as file:
        await connection.send_audio(file.readframes(file.getnframes()) + bytes(16000))
    await asyncio.wait_for(heard.wait(), 10)
    applied = connection.effective_config["endpoint_silence_ms"]
    await connection.close()
    return applied


async def main():
    found = {}
    async with AsyncShunyaClient() as client:
        spoken = await client.tts.synthesize("Hello", config=speech)
        with wave.open(io.BytesIO(spoken.audio_data)) as file:
            found["batchSpeechHz"] = file.getframerate()
        chunks = [chunk async for chunk in await client.tts.stream("Hello. And good bye.", config=speech, detailed=True)]
        found["streamedSpeechHz"] = chunks[0][0].sample_rate
        found["streamedSpeechBytes"] = sum(len(audio) for _about, audio in chunks)
        found["transcript"] = (await client.asr.transcribe(recording, config=TranscriptionConfig(model="zero-indic"))).text
        everything = TranscriptionConfig(
            model="zero-indic",
            language_code="en",
            enable_diarization=True,
            enable_emotion_diarization=True,
            enable_intent_detection=True,
            enable_sentiment_analysis=True,
            enable_summarization=True,
        )
        full = await client.asr.transcribe(recording, config=everything)
        found["features"] = [full.speakers, full.segments[0].emotion is not None, sorted(full.nlp_analysis.sentiment)]
        found["turns"] = await streamed_recognition(client, 2)
        found["endpointSilenceMs"] = await endpointed_recognition(client)
        french = TTSConfig(model="zero-indic", voice="Rajesh", language="fr")
        found["french"] = await caught(client.tts.synthesize_stream("Bonjour", config=french))
        found["klingon"] = await caught(client.asr.stream(config=StreamingConfig(language="klingon")))
    async with AsyncShunyaClient(api_key="not-a-key") as stranger:
        found["stranger"] = await caught(stranger.tts.synthesize("Hello", config=speech))
    return found


found = asyncio.run(main())
with ShunyaClient() as client:
    config = TranscriptionConfig(model="zero-indic", language_code="en")
    found["transcriptOfSync"] = client.asr.transcribe(recording, config=config).text
print(json.dumps(found))
