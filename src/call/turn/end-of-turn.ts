import { endsInNumber, isSentence, isUnfinished } from './spoken-cues.ts';
import type { EndOfTurnSettings } from './turn-settings.ts';
import type { ValueProgress } from './value-reader.ts';

/** What is known while the caller is silent. */
export interface Pause {
  /** Since the last voiced frame. */
  readonly silentMs: number;
  /** The words so far; empty while none is known. */
  readonly text: string;
  /** Since the words last changed; 0 without words. */
  readonly stillMs: number;
  /** The caller's pauses within earlier turns and this one, in ms, newest last. */
  readonly pauses: readonly number[];
  /** How much of the expected value the words hold; undefined where no value is expected. */
  readonly progress: ValueProgress | undefined;
  /** How likely the turn is over by its sound alone, 0 to 1; undefined while no model has answered in this pause. */
  readonly heard: number | undefined;
}

/**
 * One kind of evidence that the turn is over.
 * @returns log-odds: positive speaks for the end, negative against it, 0 says nothing
 */
type Witness = (settings: EndOfTurnSettings, pause: Pause) => number;

const WITNESSES: readonly Witness[] = [whatWasSaid, ownPauses, howItSounded];

/** How likely the turn is over, 0 to 1; 0.5 where nothing speaks for it or against it. Never falls while the silence alone grows. */
export function endOfTurn(settings: EndOfTurnSettings, pause: Pause): number {
  const logOdds = WITNESSES.reduce((sum, witness) => sum + witness(settings, pause), 0);
  return 1 / (1 + Math.exp(-logOdds));
}

/**
 * The silence that ends a turn, by the table of the settings.
 * @param likelihood how likely the turn is over
 * @param baseMs the silence that ends a turn of which nothing is known
 */
export function waitMs({ waits, leastMs }: EndOfTurnSettings, likelihood: number, baseMs: number): number {
  const row = waits.find(({ from }) => likelihood >= from) ?? waits.at(-1);
  return Math.max(Math.min(leastMs, baseMs), row === undefined ? baseMs : baseMs * row.share + row.extraMs);
}

/** The expected value tells it best; where it says nothing, grammar does. */
function whatWasSaid({ evidence, stillMs }: EndOfTurnSettings, pause: Pause): number {
  switch (pause.progress) {
    case 'missing':
      return evidence.missing;
    case 'likely-more':
      return evidence.likelyMore;
    case 'unlikely-more':
      return evidence.unlikelyMore;
    case 'several':
    case 'whole':
      return evidence.whole;
    case 'none':
    case 'other':
    case undefined:
      break;
  }
  if (isUnfinished(pause.text)) return evidence.leadsOn;
  if (endsInNumber(pause.text)) return evidence.number;
  return pause.stillMs >= stillMs && isSentence(pause.text) ? evidence.sentence : 0;
}

/** A silence that is no longer than this caller's pauses usually are. */
function ownPauses({ evidence, tellingPauses, pausePercentile, pauseMargin }: EndOfTurnSettings, pause: Pause): number {
  if (pause.pauses.length < tellingPauses) return 0;
  const usualMs = (percentile(pause.pauses, pausePercentile) ?? 0) * pauseMargin;
  return pause.silentMs < usualMs ? evidence.ownPause : 0;
}

/** A model's likelihood, weighed by what it proved to be worth on the telephone. */
function howItSounded({ evidence: { sound } }: EndOfTurnSettings, { heard }: Pause): number {
  if (heard === undefined) return 0;
  const bounded = Math.min(0.999, Math.max(0.001, heard));
  return Math.min(sound.most, Math.max(sound.least, sound.offset + sound.slope * Math.log(bounded / (1 - bounded))));
}

/** A percentile of a short list (nearest rank), or undefined when it is empty. @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
