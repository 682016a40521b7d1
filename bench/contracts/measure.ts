// How answer contracts end and collect dictated values. Run: npm run bench -- contracts [--json] [--values 600] [--seed 20260101]
import { cpus } from 'node:os';
import { rateOf, summarise } from '../conversation/statistics.ts';
import { collect } from './dialogue.ts';
import { dictate, type Dictated, Draw, type Kind, MIX, type SpokenLanguage } from './dictation.ts';
import { endByContract, endByFixedSilence, type Ending, RECOGNISED_MS, speak } from './endpointing.ts';

const VALUES = argument('--values', 600);
const SEED = argument('--seed', 20_260_101);
const FIXED_MS = [500, 800, 1_200] as const;
const GOALS = { cutOffRate: 0.01, addedWaitP95Ms: 250, exactRate: 0.98 } as const;

const json = process.argv.includes('--json');
const languages = (['en', 'hi'] as const).map((language) => measure(language));
const result = {
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
  seed: SEED,
  goals: GOALS,
  languages: Object.fromEntries(languages.map((measured) => [measured.language, measured])),
};

if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
else for (const measured of languages) print(measured);

function measure(language: SpokenLanguage) {
  const draw = new Draw(random(SEED + (language === 'hi' ? 1 : 0)));
  const values = (Object.keys(MIX) as Kind[]).flatMap((kind) =>
    Array.from({ length: Math.round((VALUES * MIX[kind]) / 100) }, () => dictate(draw, language, kind)),
  );
  const spoken = values.map((dictated) => ({ dictated, utterance: speak(draw, dictated.groups) }));
  const contract = spoken.map(({ dictated, utterance }) => ({ dictated, ending: endByContract(dictated, utterance, language) }));
  const collected = values.map((dictated) => ({ dictated, ...collect(draw, dictated, language) }));
  const accepted = collected.filter(({ outcome }) => outcome !== 'given-up');
  const kinds = Object.keys(MIX) as Kind[];
  return {
    language,
    endpointing: {
      contract: endings(contract.map(({ ending }) => ending)),
      fixed: Object.fromEntries(
        FIXED_MS.map((ms) => [ms, endings(spoken.map(({ utterance }) => endByFixedSilence(utterance, ms)))]),
      ),
      byKind: Object.fromEntries(kinds.map((kind) => [kind, endings(contract.filter(of(kind)).map(({ ending }) => ending))])),
    },
    collecting: {
      misheardFirst: rateOf(collected.filter(({ misheardFirst }) => misheardFirst).length, collected.length),
      wrongAcceptedWithoutReadBack: rateOf(
        accepted.filter(({ outcome, readBacks }) => outcome === 'wrong' && readBacks === 0).length,
        collected.length,
      ),
      wrongAccepted: rateOf(accepted.filter(({ outcome }) => outcome === 'wrong').length, collected.length),
      givenUp: rateOf(collected.filter(({ outcome }) => outcome === 'given-up').length, collected.length),
      notExactAfterTwoReadBacks: rateOf(
        collected.filter(({ outcome, readBacks }) => outcome !== 'exact' || readBacks > 2).length,
        collected.length,
      ),
      exact: exactRate(collected),
      exactByKind: Object.fromEntries(kinds.map((kind) => [kind, exactRate(collected.filter(of(kind)))])),
      turns: summarise(collected.map(({ turns }) => turns)),
    },
  };
}

function argument(name: string, standard: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? standard : Number(process.argv[at + 1]);
}

function of(kind: Kind): (one: { readonly dictated: Dictated }) => boolean {
  return ({ dictated }) => dictated.kind === kind;
}

function endings(all: readonly Ending[]) {
  const after = all.flatMap(({ afterSpeechMs }) => (afterSpeechMs === undefined ? [] : [afterSpeechMs]));
  return {
    cutOff: rateOf(all.filter(({ cutOff }) => cutOff).length, all.length),
    /** From the last sound to the end of the turn. */
    afterSpeechMs: summarise(after),
    /** From when the last word could be known. */
    addedWaitMs: summarise(after.map((ms) => Math.max(0, ms - RECOGNISED_MS))),
  };
}

/** The bound is the lower one here: what is good is counted. */
function exactRate(all: readonly { readonly outcome: string; readonly readBacks: number }[]) {
  const missed = rateOf(all.filter(({ outcome, readBacks }) => outcome !== 'exact' || readBacks > 2).length, all.length);
  return { n: missed.n, rate: 1 - missed.rate, lower95: 1 - missed.upper95 };
}

function print({ language, endpointing, collecting }: ReturnType<typeof measure>): void {
  const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
  const rows = [
    ['contract', endpointing.contract] as const,
    ...Object.entries(endpointing.fixed).map(([ms, ending]) => [`fixed ${ms} ms`, ending] as const),
    ...Object.entries(endpointing.byKind).map(([kind, ending]) => [`  contract, ${kind}`, ending] as const),
  ];
  process.stdout.write(`${language}\n`);
  for (const [name, { cutOff, addedWaitMs, afterSpeechMs }] of rows) {
    process.stdout.write(
      `${name.padEnd(22)} cut off ${percent(cutOff.rate)} (≤ ${percent(cutOff.upper95)}, n ${cutOff.n})  added wait p50 ${addedWaitMs.p50} p95 ${addedWaitMs.p95} max ${addedWaitMs.max} ms  after speech p95 ${afterSpeechMs.p95} ms\n`,
    );
  }
  const { misheardFirst, wrongAcceptedWithoutReadBack, wrongAccepted, givenUp, exact, exactByKind, turns } = collecting;
  process.stdout.write(
    `misheard first ${percent(misheardFirst.rate)}  wrong without read-back ${wrongAcceptedWithoutReadBack.count} (≤ ${percent(wrongAcceptedWithoutReadBack.upper95)})  wrong after a yes ${percent(wrongAccepted.rate)}  given up ${percent(givenUp.rate)}\n` +
      `exact after at most two read-backs ${percent(exact.rate)} (≥ ${percent(exact.lower95)}, n ${exact.n})  turns p50 ${turns.p50} p95 ${turns.p95}\n` +
      `  ${Object.entries(exactByKind)
        .map(([kind, { rate }]) => `${kind} ${percent(rate)}`)
        .join(', ')}\n`,
  );
}

/** The same numbers in every run: mulberry32. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
