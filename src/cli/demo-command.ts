import { type Command, Option } from 'commander';
import { errorTextWithCause } from '../kernel/errors.ts';
import { simulatedCarriers } from '../sim/carriers.ts';
import type { DemoReport } from './demo/report.ts';
import { runDemo } from './demo/run.ts';
import { LiveView } from './live-view.ts';
import { coloured, EXIT, printJson, printLine, printNote, tableText } from './shell/output.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly lang: string;
  readonly carrier: string;
  readonly profile?: string;
  readonly real?: boolean;
  readonly bot: 'flow' | 'realtime';
  readonly tamper?: 'swap-lines' | 'mute';
}

/** `offhook demo` */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('run one scripted phone call with a demo bot on this machine, and check it')
    .option('--json', 'print one JSON document')
    .addOption(new Option('--lang <language>', 'language of the call').choices(['en', 'hi']).default('en'))
    .addOption(
      new Option('--carrier <name>', 'carrier that the call comes through, simulated')
        .choices(simulatedCarriers.map(({ name }) => name))
        .default('twilio'),
    )
    .addOption(
      new Option('--bot <kind>', 'what is called: a flow, or a speech-to-speech model of a simulated vendor')
        .choices(['flow', 'realtime'])
        .default('flow'),
    )
    .addOption(new Option('--profile <profile>', 'how the embedded platform behaves').choices(['plain', 'hosted-like']))
    .option('--real', 'an open voice calls, and an open recogniser listens: those of npx offhook models get')
    .addOption(new Option('--tamper <how>', 'change the caller, to see the demo fail').choices(['swap-lines', 'mute']))
    .action(async (flags: DemoFlags) => {
      const print = flags.json === true ? printNote : printLine;
      const view = new LiveView(print);
      try {
        const report = await runDemo({
          language: flags.lang,
          carrier: flags.carrier,
          real: flags.real === true,
          realtime: flags.bot === 'realtime',
          ...(flags.profile === undefined ? {} : { profile: flags.profile }),
          ...(flags.tamper === undefined
            ? {}
            : { tampering: { swapLines: flags.tamper === 'swap-lines', mute: flags.tamper === 'mute' } }),
          onNews: (news) => view.show(news),
          onStage: (stage) => print(coloured('dim', `${stage} …`)),
        });
        if (flags.json === true) printJson(report);
        else printReport(report);
        process.exit(report.ok ? EXIT.ok : EXIT.failed);
      } catch (error) {
        if (flags.json === true) printJson({ ok: false, problems: [errorTextWithCause(error)] });
        throw error;
      }
    });
}

function printReport(report: DemoReport): void {
  printLine();
  const number = (value: number | undefined): string => (value === undefined ? '–' : String(Math.round(value)));
  const rows = report.turns.map(({ caller, latencyMs }, index) => [
    String(index),
    caller === '' ? '(greeting)' : caller,
    number(latencyMs.endpointing),
    number(latencyMs.asrFinal),
    number(latencyMs.dialog),
    number(latencyMs.ttsFirstByte),
    number(latencyMs.firstFrame),
    number(latencyMs.total),
  ]);
  printLine(tableText([['turn', 'caller', 'endpointing', 'words', 'dialog', 'voice', 'first frame', 'total (ms)'], ...rows]));
  printLine();
  for (const { turn, atMs, botSilentMs } of report.interruptions) {
    printLine(
      `Turn ${turn} was interrupted at ${(atMs / 1000).toFixed(1)} s; the bot was silent ${number(botSilentMs)} ms later.`,
    );
  }
  if (report.wordErrors !== undefined) {
    for (const { caller, recognised } of report.turns.filter((turn) => /\p{L}/u.test(turn.caller)))
      printLine(`said       ${caller}\nheard      ${recognised}`);
    const { words, errors, percent } = report.wordErrors;
    printLine(`words      ${errors} of ${words} wrong (${percent.toFixed(1)} %)`);
  }
  for (const { toldMs, ledgerMs } of report.truncations ?? [])
    printLine(`The model was told that ${toldMs} ms of its speech were heard; the ledger has ${Math.round(ledgerMs)} ms.`);
  if (report.tools !== undefined)
    printLine(`The model called its tool ${report.tools === 1 ? 'once' : `${report.tools} times`}.`);
  const { name, clear, heard } = report.carrier;
  const facts = [
    clear === 'native' ? 'takes back what was not played' : 'takes back nothing that it was sent',
    heard === 'proven' ? 'tells what was played' : 'does not tell what was played: what the caller heard is estimated',
  ];
  printLine(`carrier    ${name}: ${facts.join('; ')}`);
  printLine(`recording  ${report.recording ?? '(none)'}`);
  printLine(`record     ${report.record}`);
  printLine(`analysis   ${report.analysis ?? '(none)'}`);
  for (const problem of report.problems) printLine(coloured('red', `not as scripted: ${problem}`));
  printLine(
    report.ok
      ? coloured('green', 'The conversation went as scripted.')
      : coloured('red', 'The conversation did not go as scripted.'),
  );
}
