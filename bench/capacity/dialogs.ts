// npm run bench -- capacity/dialogs [--calls 40] [--seconds 20] [--pairs 3]
// What a call costs with a speech-to-speech model, beside one with a language model, a recogniser and a synthesizer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { SimulatedOpenAi } from '../../src/sim/realtime/openai.ts';
import { serveRealtime } from '../../src/sim/realtime/serve.ts';
import { printDocument, readOptions, spread } from '../document.ts';
import { compile } from './compiled.ts';
import { described, measureRow, type Row, ROW_FILES } from './row.ts';

const values = readOptions({ calls: '40', seconds: '20', pairs: '3' });
/** Three seconds of speech: the stand-in for the platform has one sound for every text that names a call, the model's speaks 60 ms a character. */
const WORDS = 'This is call 1, turn 1.';
const SPOKEN = 'The shop is open every day from nine until five pm.';

const out = compile(...ROW_FILES);

/** A folder with one bot. @param dialog YAML of its dialog */
function botsOf(dialog: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bots-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'talks.yaml'),
    `name: talks\ndefault: true\nlanguage: en\nvoice: Nisha\nnoInputMs: 60000\ndialog: ${dialog}\n`,
  );
  return folder;
}

/** A language model that answers every request with one sentence. */
const model = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    response.end(`${chunk({ content: WORDS }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
});
await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
const { port } = model.address() as AddressInfo;
const vendor = await serveRealtime(new SimulatedOpenAi({ clock: systemClock, script: () => ({ say: SPOKEN }) }));
const folders = {
  llm: botsOf(`{ kind: llm, baseUrl: 'http://127.0.0.1:${port}/v1', model: stand-in, instructions: Answer. }`),
  realtime: botsOf(`{ kind: realtime, url: '${vendor.url}', instructions: Answer., greeting: 'This is call 1.' }`),
} as const;

async function run(dialog: keyof typeof folders): Promise<Row> {
  const measureMs = Number(values.seconds) * 1000;
  const order = { out, subject: 'gateway', workload: 'W1', calls: Number(values.calls), warmUpMs: 8_000, measureMs } as const;
  const row = await measureRow({ ...order, bots: folders[dialog] });
  console.error(`${dialog}: ${described(row)}`);
  return row;
}

const rows: Record<keyof typeof folders, Row[]> = { llm: [], realtime: [] };
for (let pair = 0; pair < Number(values.pairs); pair += 1)
  for (const dialog of pair % 2 === 0 ? (['llm', 'realtime'] as const) : (['realtime', 'llm'] as const))
    rows[dialog].push(await run(dialog));
const costs = (dialog: keyof typeof folders): number[] => rows[dialog].map(({ usPerCallSecond }) => usPerCallSecond);
printDocument({
  usPerCallSecond: { llm: spread(costs('llm')), realtime: spread(costs('realtime')) },
  ratio: spread(
    costs('realtime').map((cost, index) => cost / (costs('llm')[index] ?? cost)),
    3,
  ),
  voidRows: [...rows.llm, ...rows.realtime].filter((row) => row.void.length > 0).length,
});
process.exit(0);
