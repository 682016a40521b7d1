import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { ENDINGS } from '../../../call/log/outcome.ts';
import type { Bot } from '../../../config/bots.ts';
import type { Problem } from '../../../config/problem.ts';
import { EDGE_KINDS } from '../../../dialog/flow/flow-parts.ts';
import { STEP_KINDS } from '../../../dialog/flow/graph.ts';
import { literalPattern } from '../../../kernel/literal-pattern.ts';
import { maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import type { Principal } from '../system/api-keys.ts';

/** A problem in a bot's files, with its place. */
export const botProblemView = z.object({
  /** The setting, dotted: `dialog.flow.states.greet.next`. */
  key: z.string(),
  /** Name of the file in the bots' folder; null for a problem outside files. */
  file: z.string().nullable(),
  line: z.int().nullable(),
  /** Column of the setting in that line, from 1. */
  column: z.int().nullable(),
  /** The value found, shortened. */
  value: z.string().nullable(),
  /** What is wrong, and what is accepted. */
  message: z.string(),
  /** What was probably meant. */
  nearest: z.string().nullable(),
  severity: z.enum(['error', 'warning']),
  /** The lines around it. */
  excerpt: z.array(z.object({ line: z.int(), text: z.string() })),
});

export const botSummaryView = z.object({
  name: z.string(),
  kind: z.enum(['flow', 'module', 'http', 'relay', 'llm']),
  /** The bot's own first. */
  language: z.string(),
  languages: z.array(z.string()),
  /** Changes with the bot's file, and its flow, module or tools file; null for bots without a file. */
  version: z.string().nullable(),
  /** Version of the files on disk, where a reload would change it. Null where they are the same, or have problems. */
  newVersion: z.string().nullable(),
  /** Numbers the bot answers. Masked without `numbers:read`. */
  numbers: z.array(z.string()),
  /** Answers every number that no other bot has. */
  default: z.boolean(),
  /** Its first words, where known before a call. */
  greeting: z.string().nullable(),
  /** Problems in its files on disk; new calls still get the loaded bot. */
  problems: z.array(botProblemView),
});

/** Time of the last reload, and its problems; with problems, the earlier bots stay. */
export const reloadView = z.object({ at: z.iso.datetime(), problems: z.array(z.string()) });

export const botListView = z.object({
  bots: z.array(botSummaryView),
  /** Problems in files without a loaded bot. */
  problems: z.array(botProblemView),
  lastReload: reloadView.nullable(),
});

const edgeReason = z.object({ kind: z.enum(EDGE_KINDS), value: z.string().optional() });

export const flowGraphView = z.object({
  start: z.string(),
  /** Business hours: the times of each open day (`monday 09:00-17:00`), and exceptions; null for a flow without. */
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
  /** Steps reachable from anywhere: by a command, or on giving up (null). */
  entries: z.array(z.object({ to: z.string(), command: z.string().nullable() })),
});

export const botView = botSummaryView.extend({
  /** Effective settings. Secrets appear as variable names; queries of addresses are hidden. */
  settings: z.array(z.object({ key: z.string(), value: z.string() })),
  /** The flow's graph. */
  graph: flowGraphView.nullable(),
  lastReload: reloadView.nullable(),
});

/** Range of counted calls, by their start: from (included) to (excluded). */
const countedView = z.object({ from: z.iso.datetime(), to: z.iso.datetime(), version: z.string().nullable() });

/** Paths of calls through a dialog that reports steps. */
export const botPathsView = countedView.extend({
  calls: z.int(),
  /** Whether there are more calls than counted; the latest are. */
  more: z.boolean(),
  steps: z.array(z.object({ step: z.string(), times: z.int(), calls: z.int() })),
  /** Direct moves between steps; `from` is null for a call's first step. */
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
  /** Calls that the bot ended itself, or transferred. */
  completed: z.int(),
  endings: z.partialRecord(z.enum(ENDINGS), z.int()),
  replies: repliesView.nullable(),
});

export const botStatsView = countedView.extend({
  total: tallyView,
  /** Version with most calls first; null for calls from before versions were recorded. */
  versions: z.array(tallyView.extend({ version: z.string().nullable() })),
  /** Days in the bot's time zone, earliest first; days without calls are missing. */
  days: z.array(tallyView.extend({ day: z.string() })),
  /** Most frequent first; null for calls without one. */
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

/** Every setting of a bot, dotted, as text; the flow has a view of its own. */
export function settingsView(bot: Bot, key: Pick<Principal, 'scopes'>): BotView['settings'] {
  const { folder: _folder, file: _file, version: _version, whereOf: _whereOf, serverUrl: _url, ...settings } = bot;
  const { dialogSecret: _secret, toolSecrets: _secrets, ...rest } = settings;
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

/** A configuration text for this key: without queries of addresses, and numbers masked without `numbers:read`. */
export function shownText(text: string, { scopes }: Pick<Principal, 'scopes'>): string {
  const hidden = text
    .replaceAll(/\b((?:https?|wss?):\/\/)[^\s/@"']+@/giu, '$1[hidden]@')
    .replaceAll(/\b((?:https?|wss?):\/\/[^\s?"']+\?)[^\s"']+/giu, '$1[hidden]');
  return scopes.includes('numbers:read') ? hidden : maskNumbersIn(hidden, []);
}

/** A problem's place, with the lines around it; none for a missing file. */
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

/** File and line of a problem; empty for one outside files. */
export function placeOf({ where }: Pick<Problem, 'where'>): { readonly path?: string; readonly line?: number } {
  const [, path, line] = /^(.+\.(?:ya?ml|[cm]?[jt]s)):(\d+)$/u.exec(where) ?? [];
  if (path !== undefined) return { path, line: Number(line) };
  return /\.(?:ya?ml|[cm]?[jt]s)$/u.test(where) ? { path: where } : {};
}

/** Column of the setting's name, else of the line's first character. */
function columnOf(text: string, key: string): number | null {
  const name = key.split('.').at(-1) ?? '';
  const at = name === '' ? -1 : text.search(new RegExp(`(?<![\\w-])${literalPattern(name)}(?![\\w-])`, 'u'));
  const first = text.search(/\S/u);
  return at >= 0 ? at + 1 : first < 0 ? null : first + 1;
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === '' ? [] : text.split(/\r\n|\n/u);
}
