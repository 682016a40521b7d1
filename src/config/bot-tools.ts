import { z } from 'zod';
import { patternProblem } from '../kernel/pattern.ts';

// What a language model may use and may say: shared by the kinds of dialogs that have one.

const language = z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'an ISO 639 code, for example en or hi');
const secretName = z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'the name of an environment variable, in capitals');
const webAddress = z.url({ protocol: /^https?$/ });
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'letters, digits, _ and -, at most 64');
const wait = (least: number, most: number, byDefault: number) => z.int().min(least).max(most).default(byDefault);
const sentence = z.string().min(1).max(500);

/** Sentences by language; several are used in turn. */
const sentences = z.record(language, z.union([sentence.transform((one) => [one]), z.array(sentence).min(1).max(10)])).default({});

const slowSettings = z.strictObject({
  /** Said while the caller waits, one after the other; the model finds the words for a language without any. */
  say: sentences,
  /** What happens to the tool when the caller hangs up first. */
  onHangup: z.enum(['finish', 'cancel']).default('cancel'),
  /** How long the caller waits in silence for the result, before the bot talks on. */
  waitMs: wait(0, 5000, 700),
  /** Longest time of the tool. */
  timeoutMs: wait(1000, 600_000, 60_000),
});

/** A tool whose result may come turns later. */
const slow = z.union([z.literal(true).transform(() => slowSettings.parse({})), slowSettings]).optional();

export type SlowSettings = z.output<typeof slowSettings>;
export type SlowInput = z.input<typeof slow>;

/** `slow` of a tool that is defined in code. @throws ZodError */
export function slowOf(given: SlowInput): SlowSettings | undefined {
  return slow.parse(given);
}

const webTool = z.strictObject({
  name: toolName,
  description: z.string().min(1).max(1000),
  /** JSON Schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object', properties: {} }),
  /** Gets a POST with the arguments; what it answers goes back to the model. */
  url: webAddress,
  /** Its result may come later, while the caller talks on. */
  slow,
});

const mcpTool = z.strictObject({
  name: z.string().min(1).max(128),
  /** Told to the model in place of the server's description. */
  description: z.string().min(1).max(1000).optional(),
  timeoutMs: z.int().min(100).max(60_000).optional(),
  slow,
});

const mcpServer = z
  .strictObject({
    /** A server over streamable HTTP. */
    url: webAddress.optional(),
    /** Request headers; each value is the environment variable that holds it. */
    headers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'the name of a header'), secretName).default({}),
    /** Or a program that speaks over its standard input and output, started in the bot's folder. */
    command: z.string().min(1).max(500).optional(),
    args: z.array(z.string().max(1000)).max(50).default([]),
    /** The program's environment beside PATH and HOME; each value is the environment variable that holds it. */
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'the name of a variable'), secretName).default({}),
    /** The only tools that the model gets. */
    tools: z
      .array(
        z.union([
          z
            .string()
            .min(1)
            .max(128)
            .transform((name): z.output<typeof mcpTool> => ({ name })),
          mcpTool,
        ]),
      )
      .min(1)
      .max(64),
    /** Longest time of a tool. */
    timeoutMs: wait(100, 60_000, 8000),
    /** Longest result; the rest is cut off. */
    maxCharacters: wait(100, 32_000, 8000),
  })
  .refine(
    ({ url, command }) => (url === undefined) !== (command === undefined),
    'an MCP server needs either url or command, and not both',
  );

export type McpServerSettings = z.output<typeof mcpServer>;

const thinker = z.strictObject({
  /** An OpenAI-compatible chat address; the bot's own where absent, and with it its secret. */
  baseUrl: webAddress.optional(),
  secretEnv: secretName.optional(),
  model: z.string().min(1).max(200),
  /** Told to the quick model: what to ask this one. */
  description: z
    .string()
    .min(1)
    .max(1000)
    .default('Thinks a hard question through, with the whole conversation at hand. It takes a while.'),
  /** The slow model's instructions. */
  instructions: z.string().min(1).max(50_000).default('Answer the question about this phone call shortly and exactly.'),
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  maxTokens: wait(1, 32_768, 2000),
  slow: slowSettings.prefault({}),
});

export type ThinkerSettings = z.output<typeof thinker>;

/** The pattern in a text such as `/pay(ment)? back/`; undefined for a plain phrase. */
export function patternBetweenSlashes(text: string): string | undefined {
  return /^\/(.+)\/$/su.exec(text)?.[1];
}

const guard = z.strictObject({
  /** Phrases that the bot never says; `/…/` is a pattern. Letter case does not count. */
  refuse: z
    .array(
      z
        .string()
        .min(2)
        .max(500)
        .superRefine((text, context) => {
          const pattern = patternBetweenSlashes(text);
          const message = pattern === undefined ? undefined : patternProblem(pattern);
          if (message !== undefined) context.addIssue({ code: 'custom', message });
        }),
    )
    .max(200)
    .default([]),
  /** Values that the bot says only where a tool, a variable, the instructions or the caller have them. */
  onlyFrom: z
    .array(z.enum(['numbers', 'dates', 'promises']))
    .max(3)
    .default([]),
  /** Words that promise something, beside the built-in ones of English and Hindi. */
  promises: z.array(z.string().min(2).max(100)).max(100).default([]),
  /** Said in place of refused sentences, by language. */
  say: z.record(language, sentence).default({}),
});

export type GuardSettings = z.output<typeof guard>;

/** A guard without rules of its own. */
export function noGuard(): GuardSettings {
  return guard.parse({});
}

const knowledge = z.union([
  z
    .string()
    .min(1)
    .max(500)
    .transform((folder) => ({ folder, results: 4, grounded: false })),
  z.strictObject({
    /** A folder of Markdown, text, PDF and CSV files, from the bot's folder on. */
    folder: z.string().min(1).max(500),
    /** Passages that a search gives to the model. */
    results: z.int().min(1).max(10).default(4),
    /** The bot states nothing before a search of this call has found a passage. */
    grounded: z.boolean().default(false),
  }),
]);

export type KnowledgeSettings = z.output<typeof knowledge>;

const memory = z.strictObject({
  /** The variable that the bot sets to `yes` in a call whose caller agrees to be remembered, and to anything else where they do not. */
  consent: z.string().min(1).max(100),
  /** Latest such calls that the model is told of. */
  calls: z.int().min(1).max(5).default(3),
});

/** Settings of a dialog with a language model. */
export const modelTools = {
  tools: z.array(webTool).max(32).default([]),
  /** A JavaScript or TypeScript file that exports tools of its own: they run in the gateway's process. */
  toolsFile: z.string().min(1).max(500).optional(),
  /** MCP servers with tools for the model, by a short name that their tools' names begin with. */
  mcp: z.record(z.string().regex(/^[a-z][a-z0-9]{0,19}$/, 'lower-case letters and digits, at most 20'), mcpServer).default({}),
  /** A slow model that the quick one may ask. */
  thinker: thinker.optional(),
  /** What the bot knows: documents that the model searches. */
  knowledge: knowledge.optional(),
  /** What the bot never says. */
  guard: guard.optional(),
  /** Callers who agree are known at their next call; nobody is where absent. */
  memory: memory.optional(),
} as const;

/** The settings of `modelTools`, as read. */
export interface ModelToolSettings {
  readonly tools: readonly z.output<typeof webTool>[];
  readonly toolsFile?: string | undefined;
  readonly mcp: Readonly<Record<string, McpServerSettings>>;
  readonly thinker?: ThinkerSettings | undefined;
  readonly knowledge?: KnowledgeSettings | undefined;
  readonly guard?: GuardSettings | undefined;
}

/** Whether a model can do something that cannot be undone, or that takes long. */
export function acts({ tools, toolsFile, mcp, thinker: slowModel }: ModelToolSettings): boolean {
  return tools.length > 0 || toolsFile !== undefined || Object.keys(mcp).length > 0 || slowModel !== undefined;
}

/** The command line of an MCP server, as the settings allow it. */
export function commandLine({ command = '', args }: Pick<McpServerSettings, 'command' | 'args'>): string {
  return [command, ...args].join(' ');
}

/** Environment variables whose values these settings name, with where each is named. */
export function toolSecrets({ mcp, thinker: slowModel }: ModelToolSettings): { name: string; keys: readonly string[] }[] {
  const servers = Object.entries(mcp).flatMap(([server, { headers, env }]) => [
    ...Object.entries(headers).map(([key, name]) => ({ name, keys: ['mcp', server, 'headers', key] })),
    ...Object.entries(env).map(([key, name]) => ({ name, keys: ['mcp', server, 'env', key] })),
  ]);
  const own = slowModel?.secretEnv;
  return own === undefined ? servers : [...servers, { name: own, keys: ['thinker', 'secretEnv'] }];
}
