/** Something wrong at a place in a flow; `path` is dotted, as the place is written. */
export interface FlowProblem {
  readonly path: string;
  readonly message: string;
  readonly value?: string | undefined;
  readonly meant?: string | undefined;
}
