import { type Command, InvalidArgumentError } from 'commander';
import { verifyChain } from '../campaigns/gate/chain.ts';
import { type ChainFault, type ChainHead, parseHead } from '../kernel/hash-chain.ts';
import type { DecisionEntry } from '../store/dialling.ts';
import { withRecords } from './records-commands.ts';
import { requireFolderOf, writeOutput } from './shell/files.ts';
import { EXIT, printJson, printLine, printNote } from './shell/output.ts';

/** `offhook audit verify | export`: the log of every decision to dial, or not to. */
export function addAuditCommand(program: Command): void {
  const audit = program.command('audit').description('check and export the log of dialling decisions');
  audit
    .command('verify')
    .description('read the whole log and name every entry that was changed, removed, replaced or moved')
    .option('--expect <sequence:hash>', 'the end of the log as you kept it elsewhere', headOption)
    .option('--tenant <id>', 'whose', 'default')
    .option('--json', 'print one JSON document')
    .action(({ tenant, expect, json = false }: { tenant: string; expect?: ChainHead; json?: boolean }) =>
      withRecords('audit verify', async ({ store }) => {
        // The end that the store keeps beside the log shows what was cut off; a copy from elsewhere shows it even if both were changed.
        const expected = expect ?? (await store.attempts.decisionHead(tenant));
        const { entries, faults, faultCount, head } = await verifyChain(store.attempts.decisions(tenant), tenant, expected);
        const ok = faultCount === 0;
        if (json) printJson({ ok, entries, faultCount, faults, head: head ?? null });
        else {
          for (const fault of faults) printLine(faultText(fault));
          if (faultCount > faults.length) printLine(`and ${faultCount - faults.length} more`);
          printLine(ok ? `${entries} decisions, all as they were written.` : `${entries} decisions, ${faultCount} fault(s).`);
          if (head !== undefined) printLine(`The log ends with ${head.sequence}:${head.hash}`);
          if (ok && head !== undefined) printNote('Keep this end elsewhere, and give it as --expect the next time.');
        }
        return ok ? EXIT.ok : EXIT.failed;
      }),
    );
  audit
    .command('export')
    .description('write the log, one line of JSON a decision, from the first one')
    .option('-o, --output <file>', '- is stdout', '-')
    .option('--tenant <id>', 'whose', 'default')
    .action(({ tenant, output }: { tenant: string; output: string }) =>
      withRecords('audit export', async ({ store }) => {
        requireFolderOf(output);
        await writeOutput(output, linesOf(store.attempts.decisions(tenant)));
        return EXIT.ok;
      }),
    );
}

function headOption(text: string): ChainHead {
  const head = parseHead(text);
  if (head === undefined) throw new InvalidArgumentError('it is the number of an entry and its hash, as verify prints them.');
  return head;
}

function faultText(fault: ChainFault): string {
  if (fault.fault === 'missing' && fault.toSequence > fault.sequence)
    return `entries ${fault.sequence} to ${fault.toSequence}: missing`;
  return `entry ${fault.sequence}: ${fault.fault}`;
}

async function* linesOf(entries: AsyncIterable<DecisionEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) yield Buffer.from(`${JSON.stringify(entry)}\n`);
}
