import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { LegalHolds } from '../jobs/retention/legal-hold.ts';
import { EXIT, printJson, printLine, printNote, tableText } from './shell/output.ts';
import { withRecords } from './setup/records-access.ts';
import { CALL_ID } from '../kernel/ids.ts';

interface CallFlags {
  readonly call?: string;
  readonly number?: string;
  readonly tenant: string;
  readonly json?: boolean;
}

/** `offhook erase`: erases the personal data of one call, or of all calls with one number. */
export function addEraseCommand(program: Command): void {
  program
    .command('erase')
    .description('erase the words, numbers and recording of a call, or of every call with a number')
    .option('--call <id>', 'one call')
    .option('--number <number>', 'every call with the person who has this number')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(async ({ call, number, tenant, json = false }: CallFlags) => {
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
          if (held.length > 0) printLine(`Not erased, under legal hold: ${held.join(', ')}`);
          if (live.length > 0) printLine(`Not erased, still live: ${live.join(', ')}`);
          if (missing.length > 0) printNote(`No call of this tenant: ${missing.join(', ')}`);
        }
        return held.length + live.length + missing.length === 0 ? EXIT.ok : EXIT.failed;
      });
    });
}

/** `offhook hold set | lift | list`: legal holds, which protect calls from retention and erasure. */
export function addHoldCommand(program: Command): void {
  const hold = program.command('hold').description('protect calls from erasure, by retention or by hand (legal hold)');
  addChange(hold, 'set', 'hold a call, or every present call with a number', true);
  addChange(hold, 'lift', 'lift the hold of a call, or of every call with a number', false);
  hold
    .command('list')
    .description('show every held call, newest first')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(({ tenant, json = false }: CallFlags) =>
      withRecords('hold list', async ({ store, audit }) => {
        const held = [];
        for await (const call of new LegalHolds(store, audit).list(tenant)) held.push(call);
        if (json) printJson({ ok: true, held });
        else if (held.length === 0) printLine('No call is held.');
        else printLine(tableText([['call', 'bot', 'began'], ...held.map(({ id, bot, startedAt }) => [id, bot, startedAt])]));
        return EXIT.ok;
      }),
    );
}

function addChange(hold: Command, name: string, description: string, on: boolean): void {
  hold
    .command(name)
    .description(description)
    .option('--call <id>', 'one call')
    .option('--number <number>', 'every call with the person who has this number')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(async ({ call, number, tenant, json = false }: CallFlags) => {
      const of =
        call === undefined
          ? number === undefined
            ? undefined
            : { number }
          : number === undefined
            ? { callId: call }
            : undefined;
      if (of === undefined) {
        printNote(`offhook hold ${name}: give either --call or --number`);
        process.exitCode = EXIT.usage;
        return;
      }
      await withRecords(`hold ${name}`, async ({ store, audit }) => {
        const { changed, missing } = await new LegalHolds(store, audit).change({ tenantId: tenant, of, on, by: whoAmI() });
        const ok = missing.length === 0 && changed.length > 0;
        if (json) printJson({ ok, [on ? 'held' : 'lifted']: changed, missing });
        else {
          printLine(`${changed.length} call(s) ${on ? 'held' : 'no longer held'}.`);
          if (missing.length > 0) printNote(`Not in the store: ${missing.join(', ')}`);
        }
        return ok ? EXIT.ok : EXIT.failed;
      });
    });
}

/** The account that runs the command, for the audit log. */
function whoAmI(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // A container's user may have no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}
