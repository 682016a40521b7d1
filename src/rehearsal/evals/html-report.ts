import type { LocatedUnmet } from './checks.ts';
import { type CallLine, percentile } from './evidence.ts';
import { type RunResult, type ScenarioResult, shareInterval, verdictOf } from './run-suites.ts';

/** What the head of the page says. */
export interface HtmlFacts {
  readonly seed: number;
  /** ISO 8601. */
  readonly madeAt: string;
  /** The sound of a call, as a WAV file; undefined where it had none. */
  readonly soundOf?: (call: RunResult['call']) => Uint8Array | undefined;
}

/** Calls whose sound is in the page: a minute of one has two megabytes. */
const MOST_SOUNDS = 20;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --line: #8884; --red: #c5221f; --green: #188038; --amber: #b06000; }
@media (prefers-color-scheme: dark) { :root { --red: #f28b82; --green: #81c995; --amber: #fdd663; } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } .passed { color: var(--green); } .failed { color: var(--red); } .flaky { color: var(--amber); } .skipped { opacity: .6; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; padding: .4rem .8rem; } summary { cursor: pointer; font-weight: 600; }
code { font: .85em ui-monospace, monospace; overflow-wrap: anywhere; } .facts { opacity: .75; }
ol { list-style: none; padding: 0; } li { display: grid; grid-template-columns: 4rem 1fr; gap: .6rem; padding: .15rem .3rem; border-radius: .3rem; }
li.shown { background: #d932; outline: 1px solid var(--red); } li b { font-weight: 500; opacity: .7; } del { opacity: .6; }
audio { width: 100%; } dl { margin: .4rem 0; } dt { font-weight: 600; } dd { margin: 0 0 .4rem; }
`;

/** The results as one page that needs nothing else: a table of scenarios, and the transcript of each failed call. */
export function htmlReport(results: readonly ScenarioResult[], { seed, madeAt, soundOf }: HtmlFacts): string {
  let sounds = 0;
  const soundHtml = ({ call }: RunResult): string => {
    const sound = sounds < MOST_SOUNDS ? soundOf?.(call) : undefined;
    if (sound === undefined) return '';
    sounds += 1;
    return `<audio controls preload="none" src="data:audio/wav;base64,${Buffer.from(sound).toString('base64')}"></audio>`;
  };
  const suites = [...new Set(results.map(({ suite }) => suite))];
  const calls = results.reduce((sum, { runs }) => sum + runs.length, 0);
  const passed = results.filter((result) => verdictOf(result) === 'passed').length;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evals: ${passed} of ${results.length} scenarios passed</title>
<style>${STYLE}</style>
<h1>${passed} of ${results.length} scenarios passed</h1>
<p class="facts">${calls} calls, seed ${seed}, ${escaped(madeAt)}</p>
${suites
  .map((suite) =>
    suiteHtml(
      results.filter((each) => each.suite === suite),
      soundHtml,
    ),
  )
  .join('\n')}
</html>
`;
}

function suiteHtml(results: readonly ScenarioResult[], soundHtml: SoundHtml): string {
  const suite = results[0]?.suite;
  if (suite === undefined) return '';
  const failed = results.filter((result) => verdictOf(result) !== 'passed' && result.runs.some(({ ok }) => !ok));
  return `<h2>${escaped(suite.bot)} <code>${escaped(suite.path)}</code></h2>
<table>
<tr><th>scenario<th>verdict<th>calls passed<th>turns<th>reply p95
${results.map(rowHtml).join('\n')}
</table>
${failed.map((result) => failedHtml(result, soundHtml)).join('\n')}`;
}

function rowHtml(result: ScenarioResult): string {
  const { scenario, runs } = result;
  const verdict = verdictOf(result);
  const passed = runs.filter(({ ok }) => ok).length;
  const { least, most } = shareInterval(passed, runs.length);
  const interval = runs.length > 1 ? ` <span class="facts">(${Math.round(least * 100)}–${Math.round(most * 100)} %)</span>` : '';
  const turns = percentile(
    runs.map(({ call }) => call.turns),
    0.5,
  );
  const replies = runs.flatMap(({ call }) => (call.times.replyP95Ms === undefined ? [] : [call.times.replyP95Ms]));
  const reply = percentile(replies, 0.5);
  const cells = [`${passed} of ${runs.length}${interval}`, turns ?? '', reply === undefined ? '' : `${reply} ms`];
  return `<tr><td>${escaped(scenario.name)}<td class="${verdict}">${verdict}${cells.map((cell) => `<td>${cell}`).join('')}`;
}

/** The player of a call; empty for one without sound. */
type SoundHtml = (run: RunResult) => string;

function failedHtml({ scenario, runs, where }: ScenarioResult, soundHtml: SoundHtml): string {
  const failed = runs.filter(({ ok }) => !ok);
  const about = scenario.about === undefined ? '' : `<p>${escaped(scenario.about)}</p>`;
  return `<details open><summary>${escaped(scenario.name)}</summary>${about}<p class="facts"><code>${escaped(where)}</code></p>
${failed.map((run) => callHtml(run, soundHtml(run))).join('\n')}</details>`;
}

function callHtml({ seed, unmet, call }: RunResult, sound: string): string {
  const shown = new Set(unmet.map(({ line }) => line));
  const values = Object.entries(call.variables).map(([name, value]) => `${name} = ${value}`);
  const requests = call.requests.map(({ method, to, outcome }) => `${method} ${to}: ${outcome ?? 'no answer'}`);
  return `<p>seed ${seed}, ended with <code>${escaped(call.end)}</code></p>
${sound}
<dl>${unmet.map(unmetHtml).join('')}</dl>
<ol>${call.lines.map((line) => lineHtml(line, shown.has(line))).join('')}</ol>
<p class="facts">${[...values, ...requests, ...call.warnings].map(escaped).join('<br>')}</p>`;
}

function unmetHtml({ where, expected, got }: LocatedUnmet): string {
  return `<dt>expected ${escaped(expected)}<dd>got ${escaped(got)} <code>${escaped(where)}</code>`;
}

function lineHtml({ who, text, meant }: CallLine, isShown: boolean): string {
  const rest = meant === undefined ? '' : ` <del title="not heard">${escaped(meant)}</del>`;
  return `<li${isShown ? ' class="shown"' : ''}><b>${who}</b><span>${escaped(text)}${rest}</span></li>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
