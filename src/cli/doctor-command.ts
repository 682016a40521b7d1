import type { Command } from 'commander';
import { errorsOf } from '../config/problem.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { readGatewayConfiguration } from './setup/configuration.ts';
import { type Check, type CheckResult, runCheck } from './doctor/check.ts';
import { marksCheck, proxyCheck } from './doctor/carriers.ts';
import { placeChecks, reachChecks } from './doctor/gateway-checks.ts';
import { masterKeyCheck } from './doctor/stores.ts';
import { platformChecks } from './doctor/platform.ts';
import { runningGateways } from './running-gateways.ts';
import { coloured, EXIT, printJson, printLine } from './shell/output.ts';
import { Progress } from './shell/progress.ts';

/** `offhook doctor`: checks everything a gateway needs, with advice for each failed check. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check configuration, carriers, speech platform, disk, the bots’ servers and models, and say what to do')
    .option('--json', 'print one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort(new Error('interrupted')));
      const alive = setInterval(() => undefined, 60_000);
      const results: CheckResult[] = [];
      const run = async (check: Check): Promise<void> => {
        using progress = new Progress(check.name);
        const result = await runCheck(check, systemClock, stop.signal);
        progress[Symbol.dispose]();
        results.push(result);
        if (flags.json !== true) printResult(result);
      };
      const { config, bots, problems: ofSettings, botProblems } = await readGatewayConfiguration({}, true);
      const problems = [...ofSettings, ...botProblems];
      const logger = createLogger({ level: 'error' });
      const { lines, servers } = reachChecks(config, bots);
      for (const check of [...placeChecks(config, problems), masterKeyCheck(config, systemClock), ...lines]) await run(check);
      const gateways = await runningGateways(config.settings.dataDir);
      for (const { url } of gateways) await run(marksCheck(url));
      if (gateways.length > 0) await run(proxyCheck(gateways));
      for (const check of servers) await run(check);
      // With wrong settings this could check another platform than the intended one.
      if (errorsOf(ofSettings).length === 0)
        await platformChecks(config, bots, logger, stop.signal, run).catch((error: unknown) => failed(error));
      clearInterval(alive);
      const ok = results.every((result) => result.ok);
      if (flags.json === true) printJson({ ok, checks: results });
      else
        printLine(
          ok ? 'All checks passed.' : `${results.filter((result) => !result.ok).length} of ${results.length} checks failed.`,
        );
      process.exit(ok ? EXIT.ok : EXIT.failed);

      function failed(error: unknown): void {
        results.push({ name: 'speech platform', ok: false, detail: errorTextWithCause(error), advice: 'run it again', ms: 0 });
      }
    });
}

function printResult({ name, ok, detail, advice, ms }: CheckResult): void {
  printLine(
    `${ok ? coloured('green', 'ok    ') : coloured('red', 'failed')} ${name}: ${detail} ${coloured('dim', `(${ms} ms)`)}`,
  );
  if (!ok && advice !== undefined) printLine(`       ${coloured('yellow', advice)}`);
}
