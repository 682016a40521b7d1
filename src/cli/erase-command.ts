import type { Command } from 'commander';
import { CALL_ID } from '../kernel/ids.ts';
import { EXIT, printJson, printLine, printNote } from './output.ts';
import { withRecords } from './records-access.ts';

interface EraseFlags {
  readonly call?: string;
  readonly number?: string;
  readonly tenant: string;
  readonly json?: boolean;
}

/** `offhook erase`: destroys everything personal of one call, or of all calls with one number. */
export function addEraseCommand(program: Command): void {
  program
    .command('erase')
    .description('destroy what was said, the numbers and the recording of a call, or of every call with a number')
    .option('--call <id>', 'one call')
    .option('--number <number>', 'every call with the person who has this number')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(async ({ call, number, tenant, json = false }: EraseFlags) => {
      if ((call === undefined) === (number === undefined)) {
        printNote('offhook erase: give either --call or --number');
        process.exitCode = EXIT.usage;
        return;
      }
      if (call !== undefined && !CALL_ID.test(call)) {
        printNote(`offhook erase: ${JSON.stringify(call)} is no id of a call`);
        process.exitCode = EXIT.usage;
        return;
      }
      await withRecords('erase', async ({ eraser }) => {
        const erasure =
          call === undefined ? await eraser.eraseNumber(tenant, number ?? '') : await eraser.eraseCall(tenant, call);
        const { erased, held, live, missing } = erasure;
        if (json) printJson(erasure);
        else {
          printLine(`${erased.length} call(s) erased.`);
          if (held.length > 0) printLine(`Held for the law, and kept: ${held.join(', ')}`);
          if (live.length > 0) printLine(`Not over yet; erase again when they are: ${live.join(', ')}`);
          if (missing.length > 0) printNote(`No call of this tenant: ${missing.join(', ')}`);
        }
        return held.length + live.length + missing.length === 0 ? EXIT.ok : EXIT.failed;
      });
    });
}
