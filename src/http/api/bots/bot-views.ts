import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { ENDINGS } from '../../../call/log/outcome.ts';
import type { Bot } from '../../../config/bots.ts';
import type { Problem } from '../../../config/problem.ts';
import { EDGE_KINDS, STEP_KINDS } from '../../../dialog/flow/graph.ts';
import { maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import type { Principal } from '../system/api-keys.ts';

/** Something that is wrong with a bot's files, where it stands. */
export const botProblemView = z.object({
  /** The setting, dotted: `dialog.flow.states.greet.next`. */
  key: z.string(),
  /** Name of the file in the bots' folder; null for what stands in none. */
  file: z.string().nullable(),
  line: z.int().nullable(),
  /** Of the setting in that line, from 1. */
  column: z.int().nullable(),
  /** What was found, shortened. */
  value: z.string().nullable(),
  /** What is wrong, and what is accepted. */
  message: z.string(),
  /** What was probably meant. */
  nearest: z.string().nullable(),
  severity: z.enum(['error', 'warning']),
  /** Lines around it. */
  excerpt: z.array(z.object({ line: z.int(), text: z.string() })),
});

export const botSummaryView = z.object({
  name: z.string(),
  kind: z.enum(['flow', 'module', 'http', 'relay', 'llm']),
  /** The bot's own first. */
  language: z.string(),
  languages: z.array(z.string()),
  /** Changes with the bot's file, and the flow, module or tools file that it names; null for bots of no file. */
  version: z.string().nullable(),
  /** Of the files as they are now, where that is another: a reload would use it. Null where they are the same, or have problems. */
  newVersion: z.string().nullable(),
  /** Numbers that it answers. Masked without `numbers:read`. */
  numbers: z.array(z.string()),
  /** Answers every number that no other bot names. */
  default: z.boolean(),
  /** What it says first, where that is known before a call. */
  greeting: z.string().nullable(),
  /** What is wrong with its files as they are now; the bot that new calls get goes on as it was. */
  problems: z.array(botProblemView),
});

/** When the bots were reloaded last, and what was refused then; with problems, calls kept the bots they had. */
export const reloadView = z.object({ at: z.iso.datetime(), problems: z.array(z.string()) });

export const botListView = z.object({
  bots: z.array(botSummaryView),
  /** Of files of which no bot is in use. */
  problems: z.array(botProblemView),
  lastReload: reloadView.nullable(),
});

const edgeReason = z.object({ kind: z.enum(EDGE_KINDS), value: z.string().optional() });

export const flowGraphView = z.object({
  start: z.string(),
  /** The business hours: the times of each open day (`monday 09:00-17:00`), and the days that are different; null for a flow without. */
  hours: z.object({ timeZone: z.string(), open: z.array(z.string()), holidays: z.array(z.string()) }).nullable(),
  steps: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(STEP_KINDS),
      prompts: z.array(z.string()),
      slots: z.array(z.string()),
      target: z.string().nullable(),
    }),
  ),
  edges: z.array(z.object({ from: z.string(), to: z.string(), when: z.array(edgeReason) })),
  /** Steps that a call can come to from anywhere: by a command, or because it gave up (null). */
  entries: z.array(z.object({ to: z.string(), command: z.string().nullable() })),
});

export const botView = botSummaryView.extend({
  /** Every setting as it is in effect. Secrets stand by the names of their variables alone; what addresses carry behind `?` is hidden. */
  settings: z.array(z.object({ key: z.string(), value: z.string() })),
  /** Of a flow. */
  graph: flowGraphView.nullable(),
  lastReload: reloadView.nullable(),
});

/** Calls that were counted: from (included) to (excluded) their beginning. */
const countedView = z.object({ from: z.iso.datetime(), to: z.iso.datetime(), version: z.string().nullable() });

/** Where calls went in a dialog that tells its steps. */
export const botPathsView = countedView.extend({
  calls: z.int(),
  /** Whether there were more calls than are counted; the latest ones are. */
  more: z.boolean(),
  steps: z.array(z.object({ step: z.string(), times: z.int(), calls: z.int() })),
  /** From a step straight to the next; `from` is null for the first step of a call. */
  hops: z.array(z.object({ from: z.string().nullable(), to: z.string(), times: z.int(), calls: z.int() })),
  ends: z.array(
    z.object({
      step: z.string(),
      ending: z.enum(ENDINGS),
      endReason: z.string(),
      calls: z.int(),
      /** Ids of some of these calls. */
      examples: z.array(z.string()),
    }),
  ),
});

/** How long callers waited for replies, in ms. */
const repliesView = z.object({ replies: z.int(), medianMs: z.int(), p90Ms: z.int(), p99Ms: z.int() });
const tallyView = z.object({
  calls: z.int(),
  /** Calls that the bot ended by itself, or transferred. */
  completed: z.int(),
  endings: z.partialRecord(z.enum(ENDINGS), z.int()),
  replies: repliesView.nullable(),
});

export const botStatsView = countedView.extend({
  total: tallyView,
  /** The version with most calls first; null for calls of before versions were kept. */
  versions: z.array(tallyView.extend({ version: z.string().nullable() })),
  /** Days of the bot's time zone, the earliest first; days without calls are missing. */
  days: z.array(tallyView.extend({ day: z.string() })),
  /** The most frequent first; null for calls that have none. */
  dispositions: z.array(z.object({ disposition: z.string().nullable(), calls: z.int() })),
});

export type BotPathsView = z.output<typeof botPathsView>;
export type BotStatsView = z.output<typeof botStatsView>;
export type BotSummaryView = z.output<typeof botSummaryView>;
export type BotView = z.output<typeof botView>;
export type BotListView = z.output<typeof botListView>;
export type BotProblemView = z.output<typeof botProblemView>;
export type FlowGraphView = z.output<typeof flowGraphView>;

const MOST_SHOWN = 2_000;
const AROUND = 2;

/** Every setting of a bot, dotted, as text; the flow itself has a view of its own. */
export function settingsView(bot: Bot, key: Pick<Principal, 'scopes'>): BotView['settings'] {
  const { folder: _folder, file: _file, version: _version, whereOf: _whereOf, serverUrl: _url, dialogSecret: _, ...rest } = bot;
  const { dialog } = rest;
  const shown = { ...rest, dialog: dialog.kind === 'flow' ? { ...dialog, flow: undefined } : dialog };
  return leavesOf('', shown).map(({ key: name, value }) => ({ key: name, value: shownText(value, key).slice(0, MOST_SHOWN) }));
}

function leavesOf(key: string, value: unknown): { key: string; value: string }[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object') return [{ key, value: typeof value === 'string' ? value : JSON.stringify(value) }];
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object'))
    return value.length === 0 ? [] : [{ key, value: value.join(', ') }];
  return Object.entries(value).flatMap(([name, each]) => leavesOf(key === '' ? name : `${key}.${name}`, each));
}

/** A text of the configuration as this key may see it: without what addresses carry, and numbers masked without `numbers:read`. */
export function shownText(text: string, { scopes }: Pick<Principal, 'scopes'>): string {
  const hidden = text
    .replaceAll(/\b((?:https?|wss?):\/\/)[^\s/@"']+@/giu, '$1[hidden]@')
    .replaceAll(/\b((?:https?|wss?):\/\/[^\s?"']+\?)[^\s"']+/giu, '$1[hidden]');
  return scopes.includes('numbers:read') ? hidden : maskNumbersIn(hidden, []);
}

/** Where a problem stands, with the lines around it. A file that is gone has none. */
export async function problemView(problem: Problem, key: Pick<Principal, 'scopes'>): Promise<BotProblemView> {
  const { path, line } = placeOf(problem);
  const lines = path === undefined ? [] : await linesOf(path);
  const from = Math.max(1, (line ?? 1) - AROUND);
  const excerpt = lines.slice(from - 1, (line ?? 1) + AROUND).map((text, index) => ({ line: from + index, text }));
  return {
    key: problem.key === path ? basename(path) : problem.key,
    file: path === undefined ? null : basename(path),
    line: line ?? null,
    column: line === undefined ? null : columnOf(lines[line - 1] ?? '', problem.key),
    value: problem.value === undefined ? null : shownText(problem.value, key),
    message: shownText(problem.message, key),
    nearest: problem.nearest ?? null,
    severity: problem.severity ?? 'error',
    excerpt: excerpt.map(({ line: number, text }) => ({ line: number, text: shownText(text, key).slice(0, 200) })),
  };
}

/** The file and line of a problem; nothing for one that stands in no file. */
export function placeOf({ where }: Pick<Problem, 'where'>): { readonly path?: string; readonly line?: number } {
  const [, path, line] = /^(.+\.(?:ya?ml|[cm]?[jt]s)):(\d+)$/u.exec(where) ?? [];
  if (path !== undefined) return { path, line: Number(line) };
  return /\.(?:ya?ml|[cm]?[jt]s)$/u.test(where) ? { path: where } : {};
}

/** Where the setting's name begins, else the first character of the line. */
function columnOf(text: string, key: string): number | null {
  const name = key.split('.').at(-1) ?? '';
  const at = name === '' ? -1 : text.search(new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`, 'u'));
  const first = text.search(/\S/u);
  return at >= 0 ? at + 1 : first < 0 ? null : first + 1;
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}-]/gu, String.raw`\$&`);
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === '' ? [] : text.split(/\r\n|\n/u);
}
