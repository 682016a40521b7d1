import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { rateOf } from './statistics.ts';

const rate = z.object({ n: z.number(), count: z.number() });
const pausing = z.object({ paused: rate });
const talkingOver = z.object({ missed: rate });
const echoDocument = z.object({
  conditions: z.object({
    linear: pausing,
    realistic: pausing,
    doubleTalkLinear: talkingOver,
    doubleTalkRealistic: talkingOver,
  }),
});
const wait = z.object({ n: z.number(), p50: z.number(), p95: z.number(), max: z.number() });
const contractsDocument = z.object({
  languages: z.record(
    z.string(),
    z.object({
      endpointing: z.object({ contract: z.object({ cutOff: rate, addedWaitMs: wait }) }),
      collecting: z.object({
        wrongAcceptedWithoutReadBack: rate,
        exact: z.object({ n: z.number(), rate: z.number(), lower95: z.number() }),
      }),
    }),
  ),
});

/** The echo benchmark beside this one: bot sentences paused by an echo, and interruptions missed while there is one. */
export async function measureEcho(speech: 'synthesized' | 'human', quick: boolean) {
  const document = await documentOf('echo', ['--speech', speech, ...(quick ? ['--calls', '4'] : [])]);
  const { linear, realistic, doubleTalkLinear, doubleTalkRealistic } = echoDocument.parse(document).conditions;
  return {
    linear: pooled([linear.paused]),
    realistic: pooled([realistic.paused]),
    doubleTalk: pooled([doubleTalkLinear.missed, doubleTalkRealistic.missed]),
  };
}

/** The contract benchmark beside this one: both languages together; of waits and exactness the worse language is told. */
export async function measureContracts(quick: boolean) {
  const document = await documentOf('contracts', quick ? ['--values', '60'] : []);
  const languages = Object.values(contractsDocument.parse(document).languages);
  const worst = <Value>(of: (language: (typeof languages)[number]) => Value, isWorse: (one: Value, other: Value) => boolean) =>
    languages.map((language) => of(language)).reduce((one, other) => (isWorse(other, one) ? other : one));
  return {
    cutOff: pooled(languages.map(({ endpointing }) => endpointing.contract.cutOff)),
    addedWaitMs: worst(
      ({ endpointing }) => endpointing.contract.addedWaitMs,
      (one, other) => one.p95 > other.p95,
    ),
    wrongAccepted: pooled(languages.map(({ collecting }) => collecting.wrongAcceptedWithoutReadBack)),
    exact: worst(
      ({ collecting }) => collecting.exact,
      (one, other) => one.rate < other.rate,
    ),
  };
}

function pooled(rates: readonly z.infer<typeof rate>[]) {
  const sum = (of: (one: z.infer<typeof rate>) => number): number => rates.reduce((total, one) => total + of(one), 0);
  return rateOf(
    sum(({ count }) => count),
    sum(({ n }) => n),
  );
}

/** The one JSON document that is the last line of a benchmark. @throws Error if it fails */
async function documentOf(name: string, options: readonly string[]): Promise<unknown> {
  const program = fileURLToPath(new URL(`../${name}/measure.ts`, import.meta.url));
  const args = ['--import', import.meta.resolve('tsx'), program, '--json', ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const code = await new Promise((resolve) => {
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
}
