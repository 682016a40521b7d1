// How long a text of the largest size takes. Run: npx tsx bench/platform/long-text.ts [--json]
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mint, type Addresses } from './wire.ts';

const SENTENCE =
  'Thank you for calling the clinic, we are open from nine in the morning until six in the evening, Monday to Saturday. ';
const TEXT = SENTENCE.repeat(Math.ceil(10_000 / SENTENCE.length)).slice(0, 10_000);
const FORMATS = ['mulaw', 'pcm', 'wav', 'mp3', 'ogg_opus', 'flac'];

const server = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), new URL('serve.ts', import.meta.url).pathname], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const addresses = await new Promise<Addresses>((resolve, reject) => {
  createInterface(server.stdout).once('line', (line) => resolve(JSON.parse(line) as Addresses));
  server.once('exit', (code) => reject(new Error(`the platform ended with ${code}`)));
});
const token = await mint(addresses);
const rows: { format: string; firstMs: number; wholeMs: number; megabytes: number }[] = [];
// The first one warms up the engines.
for (const format of ['mulaw', ...FORMATS]) {
  const startedMs = performance.now();
  const response = await fetch(`${addresses.ttsUrl}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'zero-indic', input: TEXT, voice: 'Nisha', response_format: format }),
  });
  if (!response.ok || response.body === null) throw new Error(`${format}: ${response.status} ${await response.text()}`);
  let [firstMs, bytes] = [0, 0];
  for await (const chunk of response.body) {
    if (bytes === 0) firstMs = performance.now() - startedMs;
    bytes += (chunk as Uint8Array).length;
  }
  rows.push({
    format,
    firstMs: Math.round(firstMs),
    wholeMs: Math.round(performance.now() - startedMs),
    megabytes: Math.round(bytes / 1e5) / 10,
  });
}
rows.shift();
server.stdin.end();
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`);
else console.table(rows);
