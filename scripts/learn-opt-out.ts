// Learns the weights of `src/language/understand/opt-out-weights.ts` from the tuning half of the labelled sentences: npx tsx scripts/learn-opt-out.ts
import { writeFileSync } from 'node:fs';
import { type Sentence, sentences, SPOKEN } from '../bench/opt-out/sentences.ts';
import { bucketsOf, BUCKETS, STEPS, refusalWords } from '../src/language/understand/opt-out.ts';
import { englishRows } from '../test/unit/language/spoken/english-rows.ts';
import { hindiRows } from '../test/unit/language/spoken/hindi-rows.ts';
import { draws } from '../test/unit/language/spoken/row.ts';

const EPOCHS = 12;
const RATE = 0.15;
const DECAY = 3e-5;
/** A false opt-out costs so much more than a missed one. */
const FALSE_WEIGHT = 2;
/** Everyday answers beside the near misses. */
const ROWS = 400;
const FOLDS = 5;

interface Example {
  readonly buckets: readonly number[];
  readonly isOptOut: boolean;
}

const exampleOf = ({ text, label }: Sentence): Example => ({
  buckets: [...bucketsOf(refusalWords(text))],
  isOptOut: label === 'opt-out',
});

/** Logistic regression by stochastic gradient descent; the same examples give the same weights. */
function learn(examples: readonly Example[]): Float64Array {
  const weights = new Float64Array(BUCKETS);
  const draw = draws(1);
  const order = examples.map((_, at) => at);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (let at = order.length - 1; at > 0; at -= 1) {
      const other = Math.floor((draw.next().value ?? 0) * (at + 1));
      [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
    }
    const rate = RATE / (1 + 0.3 * epoch);
    for (const at of order) {
      const { buckets = [], isOptOut = false } = examples[at] ?? {};
      const score = scoreOf(weights, buckets);
      const error = (isOptOut ? 1 : 0) - 1 / (1 + Math.exp(-score));
      const step = error * (isOptOut ? 1 : FALSE_WEIGHT);
      for (const bucket of buckets) weights[bucket] = (weights[bucket] ?? 0) * (1 - rate * DECAY) + rate * step;
    }
  }
  return weights;
}

function scoreOf(weights: Float64Array, buckets: readonly number[]): number {
  return buckets.reduce((sum, bucket) => sum + (weights[bucket] ?? 0), 0);
}

const rows = [...englishRows(), ...hindiRows()];
const everyday = rows
  .filter((_, at) => at % Math.ceil(rows.length / ROWS) === 0)
  .map(({ text }): Sentence => ({ label: 'none', text }));
const examples = [...SPOKEN.flatMap((language) => sentences(language, 'tuning')), ...everyday].map(exampleOf);

const folds = Array.from({ length: FOLDS }, (_, fold) => {
  const weights = learn(examples.filter((_example, at) => at % FOLDS !== fold));
  return examples
    .filter((_example, at) => at % FOLDS === fold)
    .map((example) => ({ ...example, score: scoreOf(weights, example.buckets) }));
}).flat();
for (const threshold of [0, 0.5, 1, 1.5, 2, 2.5, 3]) {
  const rate = (isOptOut: boolean): string => {
    const some = folds.filter((example) => example.isOptOut === isOptOut);
    return `${((100 * some.filter(({ score }) => score > threshold).length) / some.length).toFixed(2)} %`;
  };
  process.stdout.write(`cross-validated, above ${threshold}: caught ${rate(true)}, false ${rate(false)}\n`);
}

const stored = Int8Array.from(learn(examples), (weight) => Math.max(-127, Math.min(127, Math.round(weight * STEPS))));
const text = Buffer.from(stored.buffer).toString('base64');
const file = `// Learnt by scripts/learn-opt-out.ts: ${BUCKETS} bytes, one a weight.\nexport const OPT_OUT_WEIGHTS =\n  '${text}';\n`;
writeFileSync(new URL('../src/language/understand/opt-out-weights.ts', import.meta.url), file);
