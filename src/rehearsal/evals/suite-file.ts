import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Bot } from '../../config/bots.ts';
import { meant } from '../../config/nearest.ts';
import type { Problem } from '../../config/problem.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { flowOf } from '../../dialog/bot-dialog.ts';
import { FlowInvalidError } from '../../dialog/flow/load.ts';
import type { Flow } from '../../dialog/flow/schema.ts';
import { errorText } from '../../kernel/errors.ts';
import { answerContract } from '../../language/index.ts';
import { type ScenarioDocument, suiteDocument, type SuiteDocument } from './suite-schema.ts';

/** A suite that was read, with the bot it calls. */
export interface Suite extends SuiteDocument {
  readonly path: string;
  readonly bot: string;
  /** `file:line` of what is under these keys. */
  readonly whereOf: (keys: readonly PropertyKey[]) => string;
}

/** What scenarios can be checked against before a call. */
interface KnownBot {
  readonly bot: Bot;
  /** Undefined for a bot of another kind. */
  readonly flow: Flow | undefined;
  readonly path: string;
}

/** Path of the kept call that a scenario names. */
export function recordedPath(suite: Pick<Suite, 'path'>, recorded: string): string {
  return resolve(dirname(suite.path), recorded);
}

/** The files of suites in a folder, sorted. @throws the file system's error */
export function suiteFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/u.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** @returns whether there is a folder at the path */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Reads suites, and checks them against the bots that they call: names of steps, slots and bots, and conditions that no call can meet.
 * @returns the sound suites, and every problem with file and line
 */
export async function readSuites(
  paths: readonly string[],
  bots: readonly Bot[],
): Promise<{ readonly suites: readonly Suite[]; readonly problems: readonly Problem[] }> {
  const read = await Promise.all(paths.map((path) => readSuite(path, bots)));
  return {
    suites: read.flatMap((each) => ('suite' in each && each.problems.length === 0 ? [each.suite] : [])),
    problems: read.flatMap(({ problems }) => problems),
  };
}

type ReadSuite = { readonly suite: Suite; readonly problems: readonly Problem[] } | { readonly problems: readonly Problem[] };

async function readSuite(path: string, bots: readonly Bot[]): Promise<ReadSuite> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { problems: [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }] };
  }
  const yaml = readYaml(text, path);
  if ('problem' in yaml) return { problems: [yaml.problem] };
  const { written, whereOf } = yaml;
  const parsed = suiteDocument.safeParse(written);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const problems = schemaProblems({ schema: suiteDocument, issues, written, whereOf, what: 'a suite', root: 'suite' });
    return { problems: problems.sort((left, right) => lineOf(left) - lineOf(right)) };
  }
  const name = parsed.data.bot ?? basename(path).replace(/\.ya?ml$/u, '');
  const bot = bots.find((each) => each.name === name);
  if (bot === undefined) {
    const key = parsed.data.bot === undefined ? path : 'bot';
    const known = bots.map((each) => each.name);
    const message = `there is no sound bot "${name}"; the bots here are: ${known.join(', ') || 'none'}`;
    return { problems: [{ key, where: whereOf(['bot']), message, ...meant(name, known) }] };
  }
  const suite: Suite = { ...parsed.data, path, bot: name, whereOf };
  try {
    const { dialog } = bot;
    const flow = dialog.kind === 'flow' ? (await flowOf(bot, dialog)).flow : undefined;
    return { suite, problems: suite.scenarios.flatMap((each, index) => impossibleIn(each, index, { bot, flow, path }, whereOf)) };
  } catch (error) {
    if (error instanceof FlowInvalidError) return { problems: error.problems };
    throw error;
  }
}

function lineOf({ where }: Problem): number {
  return Number(/\d+$/u.exec(where)?.[0] ?? 0);
}

const CONTRACT_KINDS: readonly string[] = answerContract.options.map((option) => option.shape.kind.value);

/** What no call of this bot can meet. */
function impossibleIn(
  { caller, expect, call, mocks }: ScenarioDocument,
  index: number,
  { bot, flow, path: suitePath }: KnownBot,
  whereOf: Suite['whereOf'],
): Problem[] {
  const problems: Problem[] = [];
  const at = (keys: readonly (string | number)[], message: string, word?: string, known: readonly string[] = []): void => {
    const path = ['scenarios', index, ...keys];
    problems.push({ key: path.join('.'), where: whereOf(path), message, ...(word === undefined ? {} : meant(word, known)) });
  };
  const steps = flow === undefined ? undefined : Object.keys(flow.states);
  const slots = flow === undefined ? undefined : [...Object.keys(flow.slots), ...Object.keys(call.variables)];
  const checkStep = (step: string, keys: readonly (string | number)[]): void => {
    if (steps?.includes(step) === false) at(keys, `is impossible: the flow of ${bot.name} has no state "${step}"`, step, steps);
  };
  const checkSlots = (names: Readonly<Record<string, unknown>> | undefined, keys: readonly (string | number)[]): void => {
    for (const name of Object.keys(names ?? {}))
      if (slots?.includes(name) === false)
        at([...keys, name], `is impossible: the flow of ${bot.name} has no slot "${name}"`, name, slots);
  };
  const checkAsked = (asked: string, keys: readonly (string | number)[]): void => {
    const known = flow === undefined ? CONTRACT_KINDS : [...Object.keys(flow.slots), ...CONTRACT_KINDS];
    const what = flow === undefined ? 'kind of value' : `slot of ${bot.name} and no kind of value`;
    if (!known.includes(asked)) at(keys, `is impossible: "${asked}" is no ${what}`, asked, known);
  };

  if (caller.recorded !== undefined && !existsSync(recordedPath({ path: suitePath }, caller.recorded)))
    at(['caller', 'recorded'], `there is no kept call ${caller.recorded}; the path begins at the suite's folder`);
  for (const [number, turn] of caller.turns.entries()) {
    if (typeof turn === 'string' || turn.when === undefined || typeof turn.when === 'string') continue;
    const { step, asks, variables } = turn.when;
    const keys = ['caller', 'turns', number, 'when'];
    if (step !== undefined) checkStep(step, [...keys, 'step']);
    if (asks !== undefined) checkAsked(asks, [...keys, 'asks']);
    checkSlots(variables, [...keys, 'variables']);
  }
  for (const [number, step] of (expect.steps ?? []).entries()) checkStep(step, ['expect', 'steps', number]);
  for (const [number, step] of (expect.neverSteps ?? []).entries()) checkStep(step, ['expect', 'neverSteps', number]);
  for (const [number, text] of (expect.neverHears ?? []).entries())
    if (expect.hears?.includes(text) === true) at(['expect', 'neverHears', number], 'is impossible: hears expects the same text');
  checkSlots(expect.variables, ['expect', 'variables']);
  if (expect.disposition !== undefined && !call.outbound)
    at(['expect', 'disposition'], 'is impossible: only outbound calls have a disposition (call.outbound: true)');
  if (!call.outbound && Object.keys(call.variables).length > 0)
    at(['call', 'variables'], 'only outbound calls begin with variables (call.outbound: true)');
  for (const [number, { request }] of (mocks ?? []).entries()) {
    if ((request === 'model' && bot.dialog.kind !== 'llm') || (request === 'bot' && bot.dialog.kind !== 'http'))
      at(['mocks', number, 'request'], `is impossible: ${bot.name} is a bot of the kind ${bot.dialog.kind}`);
    if (flow !== undefined && request.startsWith('/')) {
      const paths = Object.values(flow.states).flatMap((state) => (state.request === undefined ? [] : [state.request.path]));
      if (!paths.includes(request))
        at(['mocks', number, 'request'], `is impossible: no request of ${bot.name} has this path`, request, paths);
    }
  }
  return problems;
}
