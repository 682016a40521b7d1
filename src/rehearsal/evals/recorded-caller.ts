import { decodeAudio } from '../../audio/codec.ts';
import { joinSamples } from '../../audio/samples.ts';
import type { CallerAct } from '../chat/caller-act.ts';
import type { CallFixture, Entry } from '../replay/fixture.ts';
import type { Caller, CallerMoment, NextAct, RecordedCall } from './caller.ts';

/** A hole in the caller's sound that is longer than a network's jitter: the line was away, and time passed all the same. */
const HOLE_MS = 200;

/** The caller's side of a fixture. @throws RangeError for one without sound */
export function recordedCall(fixture: CallFixture): RecordedCall {
  const { log } = fixture;
  const attached = log.find((entry) => entry.k === 'attached');
  if (attached === undefined) throw new RangeError('the kept call has no media');
  const { rateHz } = attached.format;
  const since = (t: number): number => Math.max(0, t - attached.t);
  const keys = log.flatMap((entry) => (entry.k === 'digit' ? [{ digit: entry.digit, atMs: since(entry.t) }] : []));
  const pcm = soundOf(fixture, attached);
  const ended = log.find((entry) => entry.k === 'stopped' || entry.k === 'closed');
  const endsMs = Math.max(ended === undefined ? 0 : since(ended.t), (pcm.length / rateHz) * 1000);
  return { acts: actsOf(fixture), pcm, rateHz, keys, endsMs };
}

/** All that the caller sent, in one piece at the rate of the first leg. */
function soundOf({ log, callerAudio }: CallFixture, attached: Extract<Entry, { k: 'attached' }>): Int16Array {
  const { encoding, rateHz } = attached.format;
  const parts: Int16Array[] = [];
  let [read, samples] = [0, 0];
  for (const entry of log) {
    if (entry.k !== 'audio') continue;
    const pcm = decodeAudio(encoding, callerAudio.subarray(read, read + entry.n));
    read += entry.n;
    const lateMs = entry.t - attached.t - ((samples + pcm.length) / rateHz) * 1000;
    if (lateMs > HOLE_MS) parts.push(new Int16Array(Math.round((lateMs * rateHz) / 1000)));
    parts.push(pcm);
    samples = parts.reduce((sum, { length }) => sum + length, 0);
  }
  return joinSamples(parts);
}

/** The last question of each turn says what the caller did; those before were asked early, or again. */
function actsOf({ answers }: CallFixture): CallerAct[] {
  const inputs = new Map<number, string>();
  for (const { turn, early, input } of answers) if (!early) inputs.set(turn, input);
  return [...inputs].sort(([one], [other]) => one - other).flatMap(([, input]) => actOf(input));
}

/** @param input as `inputText` of the fixture's decisions writes it */
function actOf(input: string): CallerAct[] {
  const [, kind, rest = ''] = /^(\S+) ?(.*)$/su.exec(input) ?? [];
  if (kind === 'spoken') return [{ kind: 'say', text: String(JSON.parse(rest)) }];
  if (kind === 'keyed') return [{ kind: 'press', keys: String(JSON.parse(rest)) }];
  return kind === 'no-input' ? [{ kind: 'silence' }] : [];
}

/** A caller who does what they did in a kept call: in text the same turns, with sound the same sound at the same times. */
export class RecordedCaller implements Caller {
  readonly recording: RecordedCall;
  readonly unused: readonly number[] = [];
  #next = 0;

  constructor(recording: RecordedCall) {
    this.recording = recording;
  }

  async next(_moment: CallerMoment): Promise<NextAct> {
    const act = this.recording.acts[this.#next];
    this.#next += 1;
    return { act: act ?? { kind: 'hang-up' } };
  }
}
