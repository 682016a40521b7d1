import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import { decodeAudio, encodeAudio } from '../../../../src/audio/codec.ts';
import { type AudioFormat, callRateHz, MULAW_8K } from '../../../../src/audio/format.ts';
import { resample } from '../../../../src/audio/resample.ts';
import { LineTranscoder } from '../../../../src/carriers/line-transcoder.ts';
import { DEFAULT_LEAD } from '../../../../src/call/outbound/playout-pace.ts';
import { CallRecorder } from '../../../../src/rehearsal/replay/call-recorder.ts';
import type { CallOrder } from '../../../../src/call/control/supervision.ts';
import type { CallFixture } from '../../../../src/rehearsal/replay/fixture.ts';
import type { ReplayParts } from '../../../../src/rehearsal/replay/replay-call.ts';
import { ANSWER_READER } from '../../../../src/call/control/answer-reader.ts';
import { turnMachine } from '../../../../src/call/turn/turn.ts';
import { SecretVault } from '../../../../src/call/control/secret-vault.ts';
import type { CallIdentity, OutboundFacts } from '../../../../src/call/log/call-record.ts';
import { type CallServices, DEFAULT_CALL_TIMING } from '../../../../src/call/services.ts';
import { CallSession } from '../../../../src/call/session.ts';
import { SoundError } from '../../../../src/call/outbound/sounds/port.ts';
import { Ticker } from '../../../../src/call/ticker.ts';
import type { CallControl, Attachment, CarrierWitness, MediaEvent, StreamStarted } from '../../../../src/carriers/port.ts';
import { type BotSettings, botSettings } from '../../../../src/config/bots.ts';
import { parseAction } from '../../../../src/dialog/action-schema.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { sleep } from '../../../../src/kernel/waiting.ts';
import { createEvents } from '../../../../src/observability/events.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SentenceCutter } from '../../../../src/speech/tts/sentences.ts';
import type { Recogniser, Synthesizer } from '../../../../src/speech/port.ts';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { dtmf, seededRandom } from '../../../../src/audio/tone.ts';
import { Destinations } from '../../../../src/config/destinations.ts';

/** What a caller does, one after the other. `says` is what is recognised of the voice before it, `undefined` for nothing. */
export type CallerAct =
  | { readonly quietMs: number }
  | { readonly voiceMs: number; readonly says?: string }
  /** @param toneMs how long the tone of the key is heard before the carrier tells of it */
  | { readonly key: string; readonly toneMs?: number }
  /** The carrier's socket dies, and another comes after a while. */
  | { readonly awayMs: number }
  /** Somebody who looks after the call has it do this. */
  | { readonly order: CallOrder }
  /** The carrier says who answered. */
  | { readonly witness: CarrierWitness };

export interface Script {
  readonly caller: readonly CallerAct[];
  readonly dialog: (turn: DialogTurn) => AsyncIterable<DialogAction>;
  readonly bot?: Readonly<Record<string, unknown>>;
  /** Of a call that we placed. */
  readonly outbound?: OutboundFacts;
  /** How uneven everything arrives, in ms. */
  readonly jitterMs?: number;
  readonly seed?: number;
  readonly mostBytes?: number;
  /** Who recognises, made of one that takes ten hints, when a session opens. */
  readonly recogniser?: (inner: Recogniser) => Recogniser;
  /** What an end-of-turn model hears in one pause after the other; there is none when absent. */
  readonly heard?: readonly number[];
  /** Of the leg; mu-law both ways when absent. */
  readonly wire?: Pick<StreamStarted, 'inbound' | 'outbound'>;
  /** Of our account at the carrier; there is none when absent. */
  readonly control?: CallControl;
}

/** The voice detector of these calls: a loud frame is a vowel. */
const createDetector: CallServices['createDetector'] = () => ({
  process: (frame) => {
    const voiced = frame.some((sample) => Math.abs(sample) > 1_000);
    return { voiced, speechLike: voiced ? 1 : 0 };
  },
  close: () => undefined,
});

export const parts: ReplayParts = { createDetector, createCutter: () => new SentenceCutter(), readAction: parseAction };

/** A call of a bot. */
export function identityOf(settings: BotSettings, dialog: Script['dialog'], outbound?: OutboundFacts): CallIdentity {
  return {
    callId: 'call_kept',
    tenantId: 'default',
    inbound: {
      carrier: 'bench',
      carrierCallId: 'CA1',
      from: '+15550100001',
      to: '+15550100002',
      direction: outbound === undefined ? 'inbound' : 'outbound',
      botName: undefined,
    },
    outbound,
    bot: { ...settings, folder: '' },
    dialog: { create: () => ({ respond: (turn) => dialog(turn) }) },
  };
}

/** Holds a scripted call with uneven times, and keeps it. */
export async function recordCall(script: Script): Promise<CallFixture> {
  const fixture = await recordCallIfWanted(script);
  if (fixture === undefined) throw new Error('no fixture was kept');
  return fixture;
}

/** @returns undefined when the call may not be kept */
export async function recordCallIfWanted(script: Script): Promise<CallFixture | undefined> {
  const clock = new ManualClock(5_000.25);
  const random = seededRandom(script.seed ?? 1);
  const uneven = (ms: number): number => ms + random() * (script.jitterMs ?? 6);
  const words: { text: string; untilMs: number }[] = [];
  let fixture: CallFixture | undefined;
  const services: CallServices = {
    clock,
    logger: silentLogger,
    events: createEvents(silentLogger, createMetrics(), clock),
    ticker: new Ticker({ ...boundClock(clock), after: (delayMs, run) => clock.after(delayMs + random(), run) }, 20, (error) => {
      throw error;
    }),
    spareRecognition: () => ({ release: () => undefined }),
    recogniser: (script.recogniser ?? ((inner) => inner))(scriptedRecogniser(clock, uneven, words)),
    synthesizer: scriptedSynthesizer(clock, uneven),
    endOfTurn: script.heard && scriptedModel(clock, uneven, [...script.heard]),
    ambienceOf: ({ ambience }) => (ambience === undefined ? undefined : new Int16Array(80).fill(100)),
    sounds: { play: (_, source) => scriptedSound(clock, uneven, source) },
    createDetector,
    createCutter: parts.createCutter,
    vault: new SecretVault(clock),
    recordingsFolder: '',
    playout: DEFAULT_LEAD,
    journal: () => undefined,
    dialling: { identityName: 'Lakeside Clinic' },
    refused: () => undefined,
    ended: async () => undefined,
    machine: turnMachine(ANSWER_READER),
    controlOf: () => script.control,
    destinationsOf: () => Destinations.anywhere,
    news: () => undefined,
  };
  const settings = botSettings.parse({
    name: 'bench',
    voice: 'Nisha',
    recording: 'never',
    dialog: { kind: 'module', file: 'bench.js' },
    ...script.bot,
  });
  const recorder = new CallRecorder({
    identity: identityOf(settings, script.dialog, script.outbound),
    services,
    timing: DEFAULT_CALL_TIMING,
    lifeMs: null,
    reserve: async () => ({
      async keep(kept) {
        fixture = kept;
        return undefined;
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
    ...(script.mostBytes === undefined ? {} : { mostBytes: script.mostBytes }),
  });
  const session = new CallSession(recorder.identity, recorder.services);
  let attachment = new UnevenAttachment(clock, uneven, script.wire);
  recorder.attach(attachment, (recorded) => session.attach(recorded));
  await settle();
  let startedMs = 5_000;
  let timestampMs = 0;
  const frame = async (pcm: Int16Array): Promise<void> => {
    // The network delivers late and unevenly; the caller's clock does not.
    clock.advance(Math.max(0, startedMs + timestampMs + uneven(0) - clock.nowMs()));
    attachment.emit({ type: 'audio', pcm: attachment.overTheWire(pcm), timestampMs });
    timestampMs += 20;
    await settle();
  };
  for (const act of script.caller) {
    if ('key' in act) {
      for (let passed = 0; passed < (act.toneMs ?? 0); passed += 20) await frame(dtmf(act.key, 20, 8_000));
      attachment.emit({ type: 'digit', digit: act.key });
    } else if ('witness' in act) {
      recorder.witnessed(act.witness, () => session.witness(act.witness));
    } else if ('order' in act) {
      await recorder.ordered(act.order, () => session.order(act.order, 'key_1'));
    } else if ('awayMs' in act) {
      attachment.emit({ type: 'closed', code: 1006, reason: 'connection lost' });
      for (let passed = 0; passed < act.awayMs; passed += 20) {
        clock.advance(20);
        await settle();
      }
      startedMs = clock.nowMs();
      timestampMs = 0;
      attachment = new UnevenAttachment(clock, uneven, script.wire);
      recorder.attach(attachment, (recorded) => session.attach(recorded));
    } else {
      const ms = 'voiceMs' in act ? act.voiceMs : act.quietMs;
      if ('voiceMs' in act && act.says !== undefined) words.push({ text: act.says, untilMs: clock.nowMs() + ms });
      for (let passed = 0; passed < ms; passed += 20) await frame('voiceMs' in act ? LOUD : QUIET);
    }
    await settle();
  }
  recorder.told('carrier-ended', 'the script is over', () => session.carrierEnded('the script is over'));
  await session.ended;
  return fixture;
}

const QUIET = new Int16Array(160);
const LOUD = decodeMulaw(Uint8Array.from({ length: 160 }, (_, index) => (index % 20 < 10 ? 0x10 : 0x90)));

function boundClock(clock: ManualClock) {
  return { nowMs: () => clock.nowMs(), wallMs: () => clock.wallMs() };
}

/** Plays what it gets, and gives marks back late and unevenly; on a clear all at once, as some carriers do. */
class UnevenAttachment implements Attachment {
  readonly id = 'att_0';
  readonly carrier = 'bench';
  readonly bufferedBytes = 0;
  readonly started: StreamStarted;
  readonly capabilities = {
    clear: 'native',
    marks: 'native',
    marksReturnOnClear: 'yes',
    pacing: 'burst',
    frameMs: 20,
    dtmfOut: 'reattach',
  } as const;
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
  readonly #clock: ManualClock;
  readonly #uneven: (ms: number) => number;
  #listener: (event: MediaEvent) => void = () => undefined;
  #endMs = 0;
  #outstanding: { readonly name: string; returned: boolean }[] = [];

  constructor(
    clock: ManualClock,
    uneven: (ms: number) => number,
    wire: Script['wire'] = { inbound: MULAW_8K, outbound: MULAW_8K },
  ) {
    this.started = { type: 'started', streamId: 'MZ1', carrierCallId: 'CA1', ...wire, parameters: { token: 'a secret' } };
    const line = new LineTranscoder(wire.inbound, wire.outbound);
    this.rateHz = callRateHz(wire.inbound);
    this.speechFormat = line.speechFormat;
    this.#clock = clock;
    this.#uneven = uneven;
  }

  listen(listener: (event: MediaEvent) => void): void {
    this.#listener = listener;
  }

  /** What is left of it on a leg of this law. */
  overTheWire(pcm: Int16Array): Int16Array {
    const { encoding } = this.started.inbound;
    return decodeAudio(encoding, encodeAudio(encoding, resample(pcm, 8_000, this.rateHz)));
  }

  emit(event: MediaEvent): void {
    this.#listener(event);
  }

  sendAudio(pcm: Int16Array): void {
    this.#endMs = Math.max(this.#clock.nowMs() + 10, this.#endMs) + (pcm.length * 1000) / this.speechFormat.rateHz;
  }

  sendMark(name: string): void {
    const mark = { name, returned: false };
    this.#outstanding.push(mark);
    this.#return(mark, this.#endMs - this.#clock.nowMs());
  }

  sendClear(): void {
    this.#endMs = this.#clock.nowMs();
    for (const mark of this.#outstanding) this.#return(mark, 0);
  }

  close(): void {}

  #return(mark: { readonly name: string; returned: boolean }, inMs: number): void {
    this.#clock.after(this.#uneven(inMs + 15), () => {
      if (mark.returned) return;
      mark.returned = true;
      this.emit({ type: 'mark', name: mark.name });
    });
  }
}

/** Recognises what the script says was said: a partial half-way, and the rest after the commit. */
function scriptedRecogniser(
  clock: ManualClock,
  uneven: (ms: number) => number,
  words: { text: string; untilMs: number }[],
): Recogniser {
  return {
    capabilities: PLATFORM_RECOGNITION,
    open(_options, listener) {
      let seg = 0;
      let sent = 0;
      clock.after(uneven(30), () => listener({ type: 'ready' }));
      return {
        send: () => {
          const [next] = words;
          if (next === undefined || sent === seg + 1 || clock.nowMs() < next.untilMs - 100) return;
          sent = seg + 1;
          listener({ type: 'partial', seg, text: next.text.split(' ')[0] ?? '' });
        },
        commit: () => {
          const said = words.filter(({ untilMs }) => untilMs <= clock.nowMs());
          words.splice(0, said.length);
          const mine = seg;
          seg += 1;
          clock.after(uneven(180), () => {
            const text = said.map(({ text }) => text).join(' ');
            listener({ type: 'final', seg: mine, text, endOfUtterance: true, language: 'en' });
          });
        },
        end: async () => undefined,
        abort: () => undefined,
      };
    },
  };
}

/** Answers some 90 ms after it was asked, as long as it has an answer. */
function scriptedModel(clock: ManualClock, uneven: (ms: number) => number, answers: number[]): CallServices['endOfTurn'] {
  return {
    ask(_pcm, answered) {
      const likelihood = answers.shift();
      if (likelihood !== undefined) clock.after(uneven(90), () => answered(likelihood));
    },
  };
}

/** 60 ms a character, in uneven pieces at uneven times; what was prepared comes at once. */
function scriptedSynthesizer(clock: ManualClock, uneven: (ms: number) => number): Synthesizer {
  return {
    capabilities: PLATFORM_SYNTHESIS,
    async *speak({ text }, signal) {
      const bytes = Math.ceil((text.length * 60) / 20) * 160;
      const prepared = text.startsWith('Hello');
      for (let at = 0; at < bytes; at += 1_600) {
        if (!prepared) await sleep(clock, uneven(at === 0 ? 120 : 30), signal);
        yield new Uint8Array(Math.min(1_600, bytes - at)).fill(0x20);
      }
    },
  };
}

/** Three seconds of sound; a file called `missing` is not there. */
async function* scriptedSound(clock: ManualClock, uneven: (ms: number) => number, source: string): AsyncIterable<Uint8Array> {
  await sleep(clock, uneven(40));
  if (source.includes('missing')) throw new SoundError('it is not there');
  for (let second = 0; second < 3; second += 1) yield new Uint8Array(8_000).fill(0x30);
}

/** Lets everything that is ready to run, run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
