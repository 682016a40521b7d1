import type { EvalOptions } from '../../rehearsal/evals/run-suites.ts';

/** Shows how far a run is, on a terminal's standard error. */
export class EvalProgress {
  #shown = false;

  readonly onCall: EvalOptions['onCall'] = ({ scenario, calls, of }) => {
    if (!process.stderr.isTTY) return;
    this.#shown = true;
    process.stderr.write(`\r\u{1B}[2K${calls} of ${of} calls: ${scenario.suite.bot}, ${scenario.scenario.name}`);
  };

  end(): void {
    if (this.#shown) process.stderr.write('\r\u{1B}[2K');
    this.#shown = false;
  }
}
