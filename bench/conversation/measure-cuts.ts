import type { CallRecord } from '../../src/call/log/call-record.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import type { StreamOptions } from '../../src/sim/twilio/stream.ts';
import type { Batches } from './batches.ts';
import type { BenchCall } from './bench-call.ts';
import { botSpeech } from './bot-voice.ts';
import { interrupt } from './measure-interruptions.ts';
import { locate } from './reference-audio.ts';
import { quantiles } from '../document.ts';
import { interruptionsOf, type Stimulus } from './stimuli.ts';

/** What the ear had heard of a reply when it was cut. */
interface HeardCut {
  readonly turn: number;
  /** The last of it. */
  readonly tail: Int16Array;
  /** Since the reply's first sample. */
  readonly elapsedMs: number;
}

interface CutTrial {
  /** Of the ledger's position against the ear's; positive: the ledger says that more was heard. */
  readonly errorMs: number;
  /** The least error that all words of the sentence's heard text allow. */
  readonly wordsErrorMs: number;
}

const TRIALS_A_CALL = 12;
/** The network delays each message by 0 to 200 ms in each direction, in order: ±100 ms. */
const JITTER_MS = 200;
/** A carrier tells of marks late: by up to this much, and each by up to so much more. */
const MARK_DELAY_MS = 120;
const MARK_JITTER_MS = 30;
const TAIL_SAMPLES = 4_000;
const MOST_BEHIND_MS = 2_500;
/** News of a reply comes here through another process, and may be late. */
const MOST_AHEAD_MS = 2_000;
const WATCHED_AFTER_MS = 300;

/** Interruptions on a network with jitter, with marks that come late: where the ledger puts the cut, and where it was. */
export async function measureCutSet(batches: Batches, stimuli: readonly Stimulus[], count: number, seed: number) {
  const pool = interruptionsOf(stimuli);
  const cuts = await batches.collect('cuts', count, TRIALS_A_CALL, async (index, trialCount) => {
    const random = seededRandom(seed + 15_485_863 * index);
    const call = await batches.harness.dial(jittery(random));
    const mine: HeardCut[] = [];
    let before = 0;
    for (let trial = 0; trial < trialCount; trial += 1) {
      if (!(await call.replyAfter(before, 12_000))) break;
      const replyFromMs = call.stream.nowMs;
      await call.pass((trial === 0 ? 3_000 : 700) + 3_000 * random());
      before = call.replies;
      const turn = call.news.findLast((news) => news.type === 'reply')?.turn ?? 0;
      await interrupt(call, pool[Math.floor(random() * pool.length)]!, 'clean', random);
      await call.pass(WATCHED_AFTER_MS);
      const cut = heardCut(call, turn, replyFromMs);
      if (cut !== undefined) mine.push(cut);
    }
    const record = await call.hangUp();
    return mine.map((cut) => ({ ...cut, record }));
  });
  // Looking for places takes long: nothing must be measured meanwhile.
  const compared = cuts.map((cut) => compare(cut, cut.record));
  const trials = compared.flatMap((trial) => trial ?? []);
  return {
    cutErrorMs: quantiles(trials.map(({ errorMs }) => Math.abs(errorMs))),
    cutErrorSignedMs: quantiles(trials.map(({ errorMs }) => errorMs)),
    cutWordsErrorMs: quantiles(trials.map(({ wordsErrorMs }) => wordsErrorMs)),
    cutsNotPlaced: compared.filter((trial) => trial === undefined).length,
  };
}

/** What is written at once travels in one segment, and is delayed together. */
function jittery(random: () => number): StreamOptions {
  const delays = (): (() => number) => {
    let [atMs, delayMs] = [Number.NEGATIVE_INFINITY, 0];
    return () => {
      const nowMs = performance.now();
      if (nowMs - atMs > 1) delayMs = JITTER_MS * random();
      atMs = nowMs;
      return delayMs;
    };
  };
  const usualMs = MARK_DELAY_MS * random();
  return { networkDelayMs: delays(), toGatewayDelayMs: delays(), markDelayMs: () => usualMs + MARK_JITTER_MS * random() };
}

/** What the ear had heard when the carrier obeyed the last clear. */
function heardCut(call: BenchCall, turn: number, replyFromMs: number): HeardCut | undefined {
  const cleared = call.stream.notes.findLast(({ type, atMs }) => type === 'clear' && atMs > replyFromMs);
  if (cleared === undefined) return undefined;
  const tail = call.stream.buffer.heard.slice(Math.floor(cleared.atMs * 8) - TAIL_SAMPLES, Math.floor(cleared.atMs * 8));
  return { turn, tail, elapsedMs: cleared.atMs - replyFromMs };
}

/** @returns undefined where the ear's place could not be found; empty where the reply was not cut after all */
function compare({ turn, tail, elapsedMs }: HeardCut, record: CallRecord): readonly CutTrial[] | undefined {
  if (record.turns[turn]?.interrupted !== true) return [];
  const sentences = record.sentences.filter(({ turnIndex }) => turnIndex === turn);
  const parts = sentences.map(({ text }) => botSpeech(text));
  const whole = joinSamples(parts.map(({ pcm }) => pcm));
  // A hold and what follows it only ever take the ear back.
  const earMs = locate(whole, tail, elapsedMs - MOST_BEHIND_MS, elapsedMs + MOST_AHEAD_MS);
  if (earMs === undefined) return undefined;
  const ledgerMs = sentences.reduce((sum, { heard }) => sum + heard.likelyMs, 0);
  let wordsErrorMs = 0;
  let startMs = 0;
  for (const [index, { pcm, words }] of parts.entries()) {
    const sentence = sentences[index]!;
    const heardWords = sentence.heardText.split(/\s+/u).filter(Boolean).length;
    for (const [place, { fromMs, toMs }] of words.entries()) {
      // A word that was over and is not in the text (a half-heard one is not), or one that is in it and had not begun.
      if (place >= heardWords) wordsErrorMs = Math.max(wordsErrorMs, earMs - (startMs + toMs));
      if (place < heardWords) wordsErrorMs = Math.max(wordsErrorMs, startMs + fromMs - earMs);
    }
    startMs += pcm.length / 8;
  }
  return [{ errorMs: ledgerMs - earMs, wordsErrorMs }];
}
