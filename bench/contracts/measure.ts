// How answer contracts end and collect dictated values. Run: npm run bench -- contracts [--json] [--values 600] [--seed 20260101]
import { printDocument, quantiles, rateOf, readOptions, shareOf } from '../document.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { collect, type Collected } from './dialogue.ts';
import { dictate, type Dictated, Draw, type Kind, MIX, type SpokenLanguage } from './dictation.ts';
import { endByContract, type Ending, RECOGNISED_MS, speak } from './endpointing.ts';

const values = readOptions({ values: '600', seed: '20260101' });

printDocument({ seed: Number(values.seed), languages: { en: measure('en'), hi: measure('hi') } });

function measure(language: SpokenLanguage) {
  const draw = new Draw(seededRandom(Number(values.seed) + (language === 'hi' ? 1 : 0)));
  const kinds = Object.keys(MIX) as Kind[];
  const dictations = kinds.flatMap((kind) =>
    Array.from({ length: Math.round((Number(values.values) * MIX[kind]) / 100) }, () => dictate(draw, language, kind)),
  );
  const ended = dictations.map((dictated) => ({
    dictated,
    ending: endByContract(dictated, speak(draw, dictated.groups), language),
  }));
  const collected = dictations.map((dictated) => ({ dictated, ...collect(draw, dictated, language) }));
  return {
    endpointing: {
      contract: endings(ended.map(({ ending }) => ending)),
      byKind: Object.fromEntries(kinds.map((kind) => [kind, endings(ended.filter(of(kind)).map(({ ending }) => ending))])),
    },
    collecting: {
      misheardFirst: shareOf(collected, ({ misheardFirst }) => misheardFirst),
      wrongAcceptedWithoutReadBack: shareOf(collected, ({ outcome, readBacks }) => outcome === 'wrong' && readBacks === 0),
      wrongAccepted: shareOf(
        collected.filter(({ outcome }) => outcome !== 'given-up'),
        ({ outcome }) => outcome === 'wrong',
      ),
      givenUp: shareOf(collected, ({ outcome }) => outcome === 'given-up'),
      exact: shareOf(collected, isExact),
      exactByKind: Object.fromEntries(kinds.map((kind) => [kind, shareOf(collected.filter(of(kind)), isExact)])),
      turns: quantiles(collected.map(({ turns }) => turns)),
    },
  };
}

function of(kind: Kind): (one: { readonly dictated: Dictated }) => boolean {
  return ({ dictated }) => dictated.kind === kind;
}

function endings(all: readonly Ending[]) {
  const after = all.flatMap(({ afterSpeechMs }) => (afterSpeechMs === undefined ? [] : [afterSpeechMs]));
  return {
    cutOff: rateOf(all.filter(({ cutOff }) => cutOff).length, all.length),
    /** From the last sound to the end of the turn. */
    afterSpeechMs: quantiles(after),
    /** From when the last word could be known. */
    addedWaitMs: quantiles(after.map((ms) => Math.max(0, ms - RECOGNISED_MS))),
  };
}

/** After at most two read-backs. */
function isExact({ outcome, readBacks }: Collected): boolean {
  return outcome === 'exact' && readBacks <= 2;
}
