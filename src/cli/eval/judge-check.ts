import type { Command } from 'commander';
import { z } from 'zod';
import { readEnvironment } from '../../config/env.ts';
import { problemText } from '../../config/problem.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { stayAwake } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { EvalModel } from '../../rehearsal/evals/eval-model.ts';
import type { CallLine } from '../../rehearsal/evals/evidence.ts';
import { verdictsOf } from '../../rehearsal/evals/judge.ts';
import {
  type Agreement,
  agreementOf,
  type JudgedSentence,
  labelledCall,
  type LabelledCall,
} from '../../rehearsal/evals/judge-agreement.ts';
import { modelDocument } from '../../rehearsal/evals/suite-schema.ts';
import { readText } from '../shell/files.ts';
import { coloured, EXIT, numberOption, printJson, printLine, ProblemList } from '../shell/output.ts';

/** The file of `judge-check`: the model of a suite, and calls with labels. */
const labelledFile = z.strictObject({ model: modelDocument, calls: z.array(labelledCall).min(1).max(500) });

interface JudgeFlags {
  readonly json?: boolean;
  readonly least?: number;
}

/** `offhook eval judge-check`: how well the model that judges calls agrees with people. */
export function addJudgeCheckCommand(command: Command): void {
  command
    .command('judge-check')
    .description(
      'measure how well the judge of a suite agrees with verdicts of people: agreement, Cohen’s kappa, and each disagreement',
    )
    .argument('<file>', 'YAML with the model, and calls with sentences that people found true or not (docs/evals.md)')
    .option('--least <kappa>', 'least kappa for exit code 0', numberOption, 0)
    // The command above has an option of this name.
    .option('--as-json', 'print one JSON document')
    .action(async (path: string, flags: JudgeFlags & { readonly asJson?: boolean }) => {
      const judged = await stayAwake(judgeAll(path));
      const agreement = agreementOf(judged);
      if (flags.asJson === true) printJson({ ok: isEnough(agreement, flags), ...agreement });
      else printAgreement(agreement);
      process.exit(isEnough(agreement, flags) ? EXIT.ok : EXIT.failed);
    });
}

function isEnough({ kappa, agreement }: Agreement, { least = 0 }: JudgeFlags): boolean {
  return (kappa ?? agreement) >= least;
}

/** @throws UsageError with every problem of the file */
async function judgeAll(path: string): Promise<readonly JudgedSentence[]> {
  const { model, calls } = readLabels(path);
  const judged: JudgedSentence[] = [];
  for (const call of calls) judged.push(...(await judgeCall(call, new EvalModel(model, readEnvironment(), 1))));
  return judged;
}

async function judgeCall({ name: call, lines, sentences }: LabelledCall, model: EvalModel): Promise<JudgedSentence[]> {
  const labels = Object.entries(sentences);
  const shown = lines.map((line, index): CallLine => {
    const [who = 'bot', ...rest] = line.split(': ');
    return { who: who === 'caller' ? 'caller' : 'bot', turn: index, text: rest.join(': ') };
  });
  try {
    const verdicts = await verdictsOf(
      labels.map(([sentence]) => sentence),
      shown,
      model,
    );
    return labels.map(([sentence, label], index): JudgedSentence => {
      const verdict = verdicts.find(({ number }) => number === index + 1);
      return { call, sentence, label, judged: verdict?.yes, reason: verdict?.quote ?? '' };
    });
  } catch (error) {
    return labels.map(([sentence, label]) => ({ call, sentence, label, judged: undefined, reason: errorText(error) }));
  }
}

function readLabels(path: string): z.output<typeof labelledFile> {
  const yaml = readYaml(readText(path), path);
  if ('problem' in yaml) throw new ProblemList(problemText(yaml.problem));
  const { written, whereOf } = yaml;
  const parsed = labelledFile.safeParse(written);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const problems = schemaProblems({
    schema: labelledFile,
    issues,
    written,
    whereOf,
    what: 'a file of labelled calls',
    root: 'file',
  });
  throw new ProblemList(problems.map(problemText).join('\n'));
}

function printAgreement({ sentences, agreement, kappa, withoutVerdict, disagreements }: Agreement): void {
  const percent = Math.round(agreement * 1000) / 10;
  const shown = kappa === undefined ? 'undefined: both give one answer alone' : kappa.toFixed(2);
  printLine(`${sentences} sentences: ${percent} % equal, Cohen's kappa ${shown}, ${withoutVerdict} without a verdict`);
  for (const { call, sentence, label, judged, reason } of disagreements) {
    const verdict = judged === undefined ? 'no verdict' : judged ? 'yes' : 'no';
    printLine(
      `  ${coloured('yellow', call)}: ${JSON.stringify(sentence)}: people say ${label ? 'yes' : 'no'}, the judge says ${verdict}`,
    );
    if (reason !== '') printLine(coloured('dim', `    ${reason}`));
  }
}
