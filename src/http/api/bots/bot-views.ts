import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { ENDINGS } from '../../../call/log/outcome.ts';
import type { Bot } from '../../../config/bots.ts';
import type { Problem } from '../../../config/problem.ts';
import { EDGE_KINDS } from '../../../dialog/flow/flow-parts.ts';
import { STEP_KINDS } from '../../../dialog/flow/graph.ts';
import { literalPattern } from '../../../kernel/literal-pattern.ts';
import { hideAddresses } from './hidden-addresses.ts';
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
  kind: z.enum(['flow', 'module', 'http', 'relay', 'llm', 'realtime']),
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

/** A stored version of a bot. */
const botVersionView = z.object({
  number: z.int(),
  /** What records of its calls have as the bot's version. */
  id: z.string(),
  at: z.iso.datetime(),
  /** Id of a key, `console` and a user's name, or `file` for a change by hand. */
  author: z.string(),
  note: z.string(),
});
export const botVersionsView = z.object({
  /** Newest first. */
  versions: z.array(botVersionView),
  /** What new calls get; null where the file was changed by hand since. */
  current: z.int().nullable(),
  /** A version that a share of new calls gets. */
  share: z.object({ version: z.int(), percent: z.int() }).nullable(),
});
export const botSourceView = z.object({
  /** The bot's file, or the version that was asked for. */
  text: z.string(),
  /** For `base` of a publication: changes with the file's text. */
  revision: z.string(),
  /** Why the bot is not edited here; null where it is. */
  readOnly: z.string().nullable(),
  problems: z.array(botProblemView),
});
export const draftView = z.object({
  ok: z.boolean(),
  problems: z.array(botProblemView),
  /** The draft's flow; null where it cannot be read, and for other kinds of bots. */
  graph: flowGraphView.nullable(),
});
export const publishedView = z.object({
  version: z.int(),
  /** Why new calls do not get it yet; empty where they do. */
  reload: z.array(z.string()),
});

export type BotVersionsView = z.output<typeof botVersionsView>;
export type BotSourceView = z.output<typeof botSourceView>;
export type DraftView = z.output<typeof draftView>;
export type PublishedView = z.output<typeof publishedView>;
export type BotPathsView = z.output<typeof botPathsView>;
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
  const { dialogSecret: _secret, toolSecrets: _secrets, trial: _trial, earlier: _earlier, ...rest } = settings;
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
  const hidden = hideAddresses(text);
  return scopes.includes('numbers:read') ? hidden : maskNumbersIn(hidden, []);
}

/** A problem's place, with the lines around it; none for a missing file. @param draft text of the file, where it is not that on disk */
export async function problemView(
  problem: Problem,
  key: Pick<Principal, 'scopes'>,
  draft?: { readonly path: string; readonly text: string },
): Promise<BotProblemView> {
  const { path, line } = placeOf(problem);
  const text = path === undefined ? '' : path === draft?.path ? draft.text : await readFile(path, 'utf8').catch(() => '');
  const lines = text === '' ? [] : text.split(/\r\n|\n/u);
  const from = Math.max(1, (line ?? 1) - AROUND);
  const excerpt = lines.slice(from - 1, (line ?? 1) + AROUND).map((each, index) => ({ line: from + index, text: each }));
  return {
    key: problem.key === path ? basename(path) : problem.key,
    file: path === undefined ? null : basename(path),
    line: line ?? null,
    column: line === undefined ? null : columnOf(lines[line - 1] ?? '', problem.key),
    value: problem.value === undefined ? null : shownText(problem.value, key),
    message: shownText(problem.message, key),
    nearest: problem.nearest ?? null,
    severity: problem.severity ?? 'error',
    excerpt: excerpt.map((each) => ({ line: each.line, text: shownText(each.text, key).slice(0, 200) })),
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
