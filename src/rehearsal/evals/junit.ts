import { unmetText } from './checks.ts';
import { transcriptOf } from './evidence.ts';
import { type ScenarioResult, verdictOf } from './run-suites.ts';

/** The results as a JUnit document: a test suite for each file, a test case for each scenario. */
export function junitOf(results: readonly ScenarioResult[]): string {
  const suites = [...new Set(results.map(({ suite }) => suite))].map((suite) => {
    const cases = results.filter((each) => each.suite === suite);
    const facts = countsOf(cases);
    return `  <testsuite name="${escaped(suite.bot)}" file="${escaped(suite.path)}" ${facts}>\n${cases.map(testCase).join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="offhook eval" ${countsOf(results)}>\n${suites.join('')}</testsuites>\n`;
}

function countsOf(results: readonly ScenarioResult[]): string {
  const verdicts = results.map(verdictOf);
  const failures = verdicts.filter((verdict) => verdict === 'failed' || verdict === 'flaky').length;
  const skipped = verdicts.filter((verdict) => verdict === 'skipped').length;
  return `tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${secondsOf(results)}"`;
}

function secondsOf(results: readonly ScenarioResult[]): string {
  const ms = results.flatMap(({ runs }) => runs).reduce((sum, { tookMs }) => sum + tookMs, 0);
  return (ms / 1000).toFixed(3);
}

function testCase(result: ScenarioResult): string {
  const { suite, scenario, where, runs } = result;
  const attributes = `classname="${escaped(suite.bot)}" name="${escaped(scenario.name)}" file="${escaped(where.replace(/:\d+$/u, ''))}" line="${/\d+$/u.exec(where)?.[0] ?? '1'}" time="${secondsOf([result])}"`;
  const verdict = verdictOf(result);
  if (verdict === 'passed') return `    <testcase ${attributes}/>\n`;
  if (verdict === 'skipped') return `    <testcase ${attributes}><skipped/></testcase>\n`;
  const failed = runs.find(({ ok }) => !ok);
  const passed = runs.filter(({ ok }) => ok).length;
  const message = `${passed} of ${runs.length} runs passed; ${failed?.unmet[0]?.expected ?? ''}: ${failed?.unmet[0]?.got ?? ''}`;
  const body =
    failed === undefined
      ? ''
      : [...failed.unmet.flatMap(unmetText), `seed ${failed.seed}`, '', ...transcriptOf(failed.call)].join('\n');
  return `    <testcase ${attributes}>\n      <failure type="${verdict}" message="${escaped(message)}">${escaped(body)}</failure>\n    </testcase>\n`;
}

/** XML has no place for most control characters, written as a reference or not. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
