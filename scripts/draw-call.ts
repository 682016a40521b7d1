// npx tsx scripts/draw-call.ts RECORDING.wav > docs/images/demo-call.svg
// Draws a kept call: the caller's sound above, the bot's below, with what each said, how long the caller waited for each answer,
// and where the caller talked over the bot. The record and the sidecar lie beside the recording, as `offhook demo` leaves them.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseWav } from '../src/audio/wav.ts';

const wavPath = process.argv[2];
if (wavPath === undefined) {
  process.stderr.write('usage: npx tsx scripts/draw-call.ts RECORDING.wav\n');
  process.exit(2);
}

const callSchema = z.object({
  turns: z.array(z.object({ callerText: z.string(), botHeardText: z.string(), startedAtWallMs: z.number() })),
  interruptions: z.array(z.object({ atMs: z.number(), turn: z.number() })),
  startedAtWallMs: z.number(),
});
const json = (suffix: string): unknown => JSON.parse(readFileSync(wavPath.replace(/\.wav$/, suffix), 'utf8'));
const call = callSchema.parse(json('.call.json'));
const sidecar = z.object({ startedAtWallMs: z.number(), durationMs: z.number() }).parse(json('.recording.json'));
const { samples, rateHz } = parseWav(readFileSync(wavPath));
const [caller = new Int16Array(), bot = new Int16Array()] = samples;

/** Milliseconds that one point of a drawn wave stands for. */
const BIN_MS = 20;
const ROW_MS = 19_000;
const WIDTH = 1180;
const MARGIN = 20;
const ROW_HEIGHT = 236;
/** The mean width of a letter, in pixels. */
const LETTER = 6.6;
/** A column is voice above this share of full scale. */
const VOICE = 0.02;

interface Burst {
  readonly fromMs: number;
  readonly toMs: number;
}

function peaks(channel: Int16Array): number[] {
  const bin = (rateHz * BIN_MS) / 1000;
  const found: number[] = [];
  for (let at = 0; at < channel.length; at += bin) {
    let peak = 0;
    for (const sample of channel.subarray(at, at + bin)) peak = Math.max(peak, Math.abs(sample));
    found.push(peak / 32_768);
  }
  return found;
}

/** Stretches of sound with pauses of less than `pauseMs` in them. */
function bursts(wave: readonly number[], pauseMs: number): Burst[] {
  const found: { fromMs: number; toMs: number }[] = [];
  for (const [index, peak] of wave.entries()) {
    if (peak < VOICE) continue;
    const last = found.at(-1);
    const atMs = index * BIN_MS;
    if (last !== undefined && atMs - last.toMs < pauseMs) last.toMs = atMs + BIN_MS;
    else found.push({ fromMs: atMs, toMs: atMs + BIN_MS });
  }
  return found;
}

const callerWave = peaks(caller);
const botWave = peaks(bot);
const callerBursts = bursts(callerWave, 300);
const botBursts = bursts(botWave, 300);
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Breaks a text into lines of at most so many letters. */
function lines(text: string, length: number): string[] {
  const found: string[] = [];
  for (const word of text.split(' ')) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < length) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

function path(wave: readonly number[], fromMs: number, middle: number, tall: number): string {
  const from = fromMs / BIN_MS;
  const row = wave.slice(from, from + ROW_MS / BIN_MS);
  const points = row.map(
    (peak, index) => `${(MARGIN + (index * BIN_MS * WIDTH) / ROW_MS).toFixed(1)},${(Math.min(1, peak * 1.6) * tall).toFixed(1)}`,
  );
  const up = points.map((point) => point.replace(/,(.*)/, (_, y: string) => `,${(middle - Number(y)).toFixed(1)}`));
  const down = points
    .toReversed()
    .map((point) => point.replace(/,(.*)/, (_, y: string) => `,${(middle + Number(y)).toFixed(1)}`));
  return `M${[...up, ...down].join('L')}Z`;
}

const out: string[] = [];
const rows = Math.ceil(sidecar.durationMs / ROW_MS);
const yOf = (ms: number): number => Math.floor(ms / ROW_MS) * ROW_HEIGHT;
const xOf = (ms: number): number => MARGIN + ((ms % ROW_MS) * WIDTH) / ROW_MS;
const label = (x: number, y: number, text: string, kind: string): void => {
  // Near the right edge a text ends there.
  const ends = kind === 'cutText' || x + text.length * LETTER > WIDTH + MARGIN;
  const [at, anchor] = ends ? [kind === 'cutText' ? x : WIDTH + MARGIN, ' text-anchor="end"'] : [x, ''];
  out.push(`<text x="${at.toFixed(1)}" y="${y}" class="${kind}"${anchor}>${escape(text)}</text>`);
};
/** Bursts that are a part of some turn's words. */
const said = new Set<Burst>();

for (let row = 0; row < rows; row++) {
  const y = row * ROW_HEIGHT;
  out.push(`<path class="caller" d="${path(callerWave, row * ROW_MS, y + 84, 34)}"/>`);
  out.push(`<path class="bot" d="${path(botWave, row * ROW_MS, y + 152, 34)}"/>`);
}
for (const [index, turn] of call.turns.entries()) {
  const askedMs = turn.startedAtWallMs - sidecar.startedAtWallMs;
  const answer = botBursts.find((burst) => burst.fromMs >= askedMs - 100);
  const words = callerBursts.findLast((burst) => burst.toMs <= askedMs);
  if (words !== undefined && turn.callerText !== '' && !/^\d+$/.test(turn.callerText)) {
    for (const burst of callerBursts) if (burst.toMs <= askedMs && burst.toMs > words.fromMs - 1200) said.add(burst);
    for (const [line, text] of lines(turn.callerText, 34).entries())
      label(xOf(words.fromMs), yOf(words.fromMs) + 30 + line * 14, text, 'said');
    if (answer !== undefined && yOf(words.toMs) === yOf(answer.fromMs)) {
      const [x, end, y] = [xOf(words.toMs), xOf(answer.fromMs), yOf(words.toMs) + 118];
      out.push(
        `<path class="wait" d="M${x.toFixed(1)},${y - 5}V${y + 5}M${x.toFixed(1)},${y}H${end.toFixed(1)}M${end.toFixed(1)},${y - 5}V${y + 5}"/>`,
      );
      label(end + 5, y + 4, `${((answer.fromMs - words.toMs) / 1000).toFixed(2)} s`, 'waited');
    }
  } else if (turn.callerText !== '') label(xOf(askedMs), yOf(askedMs) + 88, `presses ${turn.callerText}`, 'said');
  if (answer === undefined) continue;
  const nextMs = (call.turns[index + 1]?.startedAtWallMs ?? Number.POSITIVE_INFINITY) - sidecar.startedAtWallMs;
  const roomMs = Math.min(nextMs, (Math.floor(answer.fromMs / ROW_MS) + 1) * ROW_MS) - answer.fromMs;
  const letters = Math.max(18, Math.floor((roomMs * WIDTH) / ROW_MS / LETTER));
  for (const [line, text] of lines(turn.botHeardText, letters).entries())
    label(xOf(answer.fromMs), yOf(answer.fromMs) + 204 + line * 14, text, 'spoken');
}
for (const { atMs } of call.interruptions) {
  const ms = atMs - (sidecar.startedAtWallMs - call.startedAtWallMs);
  const [x, y] = [xOf(ms), yOf(ms)];
  out.push(`<path class="cut" d="M${x.toFixed(1)},${y + 44}V${y + 190}"/>`);
  label(x - 6, y + 112, 'the caller talks over the bot: it stops', 'cutText');
}
for (const burst of callerBursts) {
  if (!said.has(burst)) label(xOf(burst.fromMs) - 10, yOf(burst.fromMs) + 50, 'coughs: it speaks on', 'noise');
}

const height = rows * ROW_HEIGHT + 6;
process.stdout
  .write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + 2 * MARGIN} ${height}" role="img" aria-label="A call with the demo's bot: what caller and bot said, and how long the caller waited">
<style>
  svg { font: 12.5px system-ui, sans-serif; background: #fff }
  .caller { fill: #2563eb } .bot { fill: #0f9d76 } .said { fill: #1d4ed8; font-weight: 600 } .spoken { fill: #0b6b51 }
  .wait, .cut { fill: none; stroke: #6b7280 } .waited { fill: #374151 } .cut { stroke: #dc2626; stroke-dasharray: 4 3 } .cutText { fill: #dc2626 } .noise { fill: #6b7280 }
</style>
<rect width="100%" height="100%" fill="#fff"/>
${out.join('\n')}
</svg>
`);
