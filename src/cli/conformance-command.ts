import { readFileSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { readEnvironment } from '../config/env.ts';
import { Secret } from '../config/secrets.ts';
import { stayAwake } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { type Checked, FINDINGS, runChecks } from '../rehearsal/conformance/check.ts';
import { type CheckedServer, httpChecks } from '../rehearsal/conformance/http-checks.ts';
import { relayChecks } from '../rehearsal/conformance/relay-checks.ts';
import { webhookChecks } from '../rehearsal/conformance/webhook-checks.ts';
import { coloured, countOption, EXIT, printJson, printLine, UsageError } from './shell/output.ts';

const KINDS = { http: httpChecks, relay: relayChecks, webhook: webhookChecks } as const;
type Kind = keyof typeof KINDS;
const PROTOCOLS: Readonly<Record<Kind, RegExp>> = { http: /^https?:$/u, relay: /^wss?:$/u, webhook: /^https?:$/u };

interface ConformanceFlags {
  readonly secretEnv?: string;
  readonly timeout: number;
  readonly json?: boolean;
}

/** `offhook conformance`: sends a bot author's own server everything that a gateway can send, and says what it did wrong. */
export function addConformanceCommand(program: Command): void {
  program
    .command('conformance')
    .description('check your own server: send it everything that Offhook can send, and say what it does wrong')
    .addArgument(new Argument('<kind>', 'what the server is').choices(Object.keys(KINDS)))
    .argument('<url>', 'its address')
    .option('--secret-env <name>', 'environment variable with the secret that signs requests, as in the bot’s file')
    .option('--timeout <ms>', 'longest silence of the server', countOption, 8000)
    .option('--json', 'print one JSON document')
    .action(async (kind: Kind, url: string, flags: ConformanceFlags) => {
      process.exit(await stayAwake(check(kind, url, flags)));
    });
}

/** @returns the exit code */
async function check(kind: Kind, url: string, flags: ConformanceFlags): Promise<number> {
  try {
    const server = serverOf(kind, url, flags);
    const json = flags.json === true;
    const results = await runChecks(KINDS[kind](server), (checked) => (json ? undefined : printChecked(checked)));
    const counts = Object.fromEntries(FINDINGS.map((finding) => [finding, results.filter(({ is }) => is === finding).length]));
    const ok = results.every(({ is }) => is !== 'failed');
    if (json) printJson({ ok, kind, url, ...counts, checks: results });
    else printLine(`${results.length} checks: ${FINDINGS.map((finding) => `${counts[finding]} ${finding}`).join(', ')}`);
    return ok ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (flags.json === true) printJson({ ok: false, error: errorText(error) });
    throw error;
  }
}

/** @throws UsageError */
function serverOf(kind: Kind, url: string, { secretEnv, timeout }: ConformanceFlags): CheckedServer {
  if (!URL.canParse(url) || !PROTOCOLS[kind].test(new URL(url).protocol))
    throw new UsageError(
      `"${url}" is no address of a ${kind} server: ${kind === 'relay' ? 'wss:// or ws://' : 'https:// or http://'} is expected`,
    );
  return { url, secret: secretEnv === undefined ? undefined : secretOf(secretEnv), timeoutMs: timeout };
}

/** @throws UsageError where neither the variable nor its file is there */
function secretOf(name: string): Secret {
  const env = readEnvironment();
  const file = env[`${name}_FILE`];
  try {
    const value = env[name] ?? (file === undefined ? '' : readFileSync(file, 'utf8').trim());
    if (value !== '') return new Secret(value);
  } catch (error) {
    throw new UsageError(`the file of ${name}_FILE cannot be read: ${errorText(error)}`);
  }
  throw new UsageError(`neither ${name} nor ${name}_FILE is set`);
}

const STYLES = { passed: 'green', warned: 'yellow', failed: 'red', skipped: 'dim' } as const;
const SHOWN = { passed: 'ok', warned: 'warning', failed: 'FAILED', skipped: 'skipped' } as const;

function printChecked(checked: Checked): void {
  printLine(`${coloured(STYLES[checked.is], SHOWN[checked.is].padEnd(8))}${checked.name}`);
  if (checked.is === 'passed' || checked.is === 'skipped') return;
  printLine(`        rule: ${checked.rule}`);
  printLine(`        got:  ${checked.got}`);
}
