import { decodeMulaw, decodeMulawInto } from '../../src/audio/g711.ts';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { EchoGuard } from '../../src/call/inbound/echo/echo-guard.ts';
import { EchoSearch, HISTORY_SAMPLES, SEGMENT_SAMPLES } from '../../src/call/inbound/echo/echo-search.ts';
import { Recording } from '../../src/call/recording/recording.ts';
import { stepTurn } from '../../src/call/turn/turn.ts';
import { DEFAULT_TURN_SETTINGS } from '../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../src/call/turn/turn-state.ts';
import type { TurnState } from '../../src/call/turn/turn-state.ts';
import { JsonCodec } from '../../src/carriers/json-codec.ts';
import { twilioDialect } from '../../src/carriers/twilio/dialect.ts';
import { RealtimeProtocol } from '../../src/speech/asr/realtime-protocol.ts';
import { quiet, soundOf, speech } from '../capacity/sounds.ts';
import { wholeCall } from './whole-call.ts';

export interface Cost {
  readonly what: string;
  /** Processor time: the middle of the rounds, and the least, since other work on the machine only ever adds. */
  readonly ns: number;
  readonly leastNs: number;
}

const ROUNDS = 27;
/** Speech and quiet by turns, as a caller's line is. */
const parts = [speech(2_400, 11), quiet(4_600, 71), speech(2_400, 12), quiet(4_600, 72)];
const sounds = parts.map(soundOf);
const frames = sounds.flatMap(({ frames: own }) => own);
const pcm = frames.map(decodeMulaw);
const { frames: botFrames } = soundOf(speech(20_000, 3));
const bot = botFrames.map(decodeMulaw);
const texts = sounds
  .flatMap(({ base64 }) => base64)
  .map(
    (payload, at) =>
      `{"event":"media","sequenceNumber":"${at + 2}","media":{"track":"inbound","chunk":"${at + 1}","timestamp":"${at * 20}","payload":"${payload}"},"streamSid":"MZ0123456789abcdef0123456789abcdef"}`,
  );
const messages = texts.map((text) => Buffer.from(text));
const detectorOf = await loadVoiceActivity();

/** @param perRound how often the work is done in one round */
function cost(what: string, perRound: number, work: (at: number) => void): Cost {
  const round = (): number => {
    const before = startOfRound();
    for (let at = 0; at < perRound; at += 1) work(at);
    return spentNs(before) / perRound;
  };
  return costOf(what, Array.from({ length: ROUNDS }, round));
}

/** The same for work that is waited for. */
async function costLater(what: string, perRound: number, work: (at: number) => Promise<void>): Promise<Cost> {
  const rounds: number[] = [];
  while (rounds.length < ROUNDS) {
    const before = startOfRound();
    for (let at = 0; at < perRound; at += 1) await work(at);
    rounds.push(spentNs(before) / perRound);
  }
  return costOf(what, rounds);
}

function startOfRound(): NodeJS.CpuUsage {
  globalThis.gc?.();
  return process.cpuUsage();
}

function spentNs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

/** The first two rounds are of code that is not compiled yet. */
function costOf(what: string, rounds: readonly number[]): Cost {
  const sorted = rounds.slice(2).sort((a, b) => a - b);
  return { what, ns: Math.round(sorted[sorted.length >> 1]!), leastNs: Math.round(sorted[0]!) };
}

function of<Value>(values: readonly Value[], at: number): Value {
  return values[at % values.length]!;
}

/** What the bare echo server of `bench/capacity` does with a frame: the baseline of all that follows. */
function echoFrame(): Cost {
  return cost('baseline: a media message read and written by an echo', messages.length, (at) => {
    const { event, streamSid, media } = JSON.parse(of(messages, at).toString()) as {
      event: string;
      streamSid: string;
      media: { payload: string };
    };
    JSON.stringify({ event, streamSid, media: { payload: media.payload } });
  });
}

function readJson(): Cost {
  const reader = new JsonCodec(twilioDialect);
  const start = { streamSid: 'MZ0', callSid: 'CA0', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 } };
  reader.read(Buffer.from(JSON.stringify({ event: 'start', start, streamSid: 'MZ0' })), false);
  return cost('json-codec: a media message', 7_000, (at) => reader.read(of(messages, at), false));
}

function decode(): Cost {
  const target = new Int16Array(160);
  return cost('mu-law: a frame decoded', 21_000, (at) => decodeMulawInto(of(frames, at), target));
}

function voiceActivity(what: string, given: readonly Int16Array[]): Cost {
  const detector = detectorOf();
  return cost(`voice activity: ${what}`, 7_000, (at) => detector.process(of(given, at)));
}

/** A line without echo on which the bot talks all the time, as most are: searches are what the budget of a process allows. */
function echoGuard(): Cost {
  const guard = new EchoGuard();
  let nowMs = 0;
  return cost('echo guard: a frame', 7_000, (at) => {
    const frame = of(pcm, at);
    guard.sent(of(bot, at), nowMs, 0);
    guard.arrived(frame.length, nowMs, nowMs);
    guard.explains(frame, at % 700 < 240);
    nowMs += 20;
  });
}

function echoSearch(): Cost {
  const search = new EchoSearch();
  const history = Int16Array.from(bot.flatMap((frame) => [...frame]).slice(0, HISTORY_SAMPLES));
  const segment = Int16Array.from(pcm.slice(20).flatMap((frame) => [...frame])).subarray(0, SEGMENT_SAMPLES);
  return cost('echo search: one', 20, () => search.find(segment, history));
}

function turnMachine(name: string, before: (state: TurnState) => TurnState): Cost {
  let state = before(initialTurn());
  let atMs = 0;
  return cost(`turn machine: a frame, ${name}`, 14_000, (at) => {
    atMs += 20;
    const frame = { atMs, voiced: at % 700 < 120, speechLike: 0.8 };
    const next = stepTurn(DEFAULT_TURN_SETTINGS, state, { type: 'frame', frame });
    if (next.effects.length === 0) state = next.state;
  });
}

function recorder(): Cost {
  const files = { create: () => ({ failure: undefined, write: () => undefined, finish: async () => true }) };
  const recording = new Recording('unused', 'call', { files });
  let nowMs = 0;
  return cost('recording: a frame of each side', 7_000, (at) => {
    recording.caller(of(pcm, at), nowMs, nowMs, nowMs);
    recording.bot(of(bot, at), nowMs + 300, nowMs);
    recording.tick(nowMs + 10);
    nowMs += 20;
  });
}

function recognition(): Cost {
  const protocol = new RealtimeProtocol({ language: 'en', sampleRateHz: 8_000, random: () => 0.5 }, 0);
  let nowMs = 0;
  const at = (): { nowMs: number; bufferedBytes: number } => ({ nowMs, bufferedBytes: 0 });
  protocol.start();
  protocol.opened(at(), 'token');
  protocol.text(at(), '{"type":"ready"}');
  return cost('recognition: a frame', 7_000, (index) => {
    nowMs += 20;
    protocol.send(at(), of(pcm, index));
  });
}

/** A call on which the bot talks all the time: ten frames and ticks for each chunk of 200 ms, and each alone. */
async function call(): Promise<readonly Cost[]> {
  const chunks = Array.from({ length: 100 }, (_, at) => Buffer.concat(botFrames.slice(at * 10, at * 10 + 10)));
  const line = await wholeCall();
  let said = 0;
  let heard = 0;
  const frame = (): void => line.frame(of(messages, heard++));
  const say = (): Promise<void> => line.chunk(of(chunks, said++));
  for (let ahead = 0; ahead < 5; ahead += 1) await say();
  const whole = await costLater('call: 200 ms of everything but sockets', 350, async () => {
    for (let at = 0; at < 10; at += 1) {
      line.wait(20);
      frame();
      line.tick();
    }
    await say();
  });
  const sentMs = (line.sentMessages / said) * 1000;
  if (sentMs < 2_000 || sentMs > 2_600) throw new Error(`${line.sentMessages} messages for ${said} chunks`);
  const idle = cost('call: a tick, nothing due', 14_000, () => line.tick());
  const inbound = cost('call: a message of the carrier', 7_000, frame);
  return [whole, idle, inbound];
}

const bots = initialTurn();
const costs = [
  echoFrame(),
  readJson(),
  decode(),
  voiceActivity('a frame', pcm),
  voiceActivity('a frame of speech', pcm.slice(0, sounds[0]!.frames.length)),
  echoGuard(),
  echoSearch(),
  turnMachine('nobody speaks', () => ({ ...bots, phase: { name: 'listening', sinceMs: Number.POSITIVE_INFINITY } })),
  turnMachine('the bot speaks', () => ({ ...bots, phase: { name: 'bot-speaking', policy: 'never', contest: undefined } })),
  recorder(),
  recognition(),
  ...(await call()),
];
process.send?.(costs);
