import type { DialogTurn, TurnInput } from '../../dialog/port.ts';

/** The dialog's input as text, by which a fixture finds the answer again. */
export function inputText(input: TurnInput): string {
  switch (input.kind) {
    case 'start':
      return 'start';
    case 'spoken':
      return `spoken ${JSON.stringify(input.text)}`;
    case 'keyed':
      return `keyed ${JSON.stringify(input.digits)}`;
    case 'no-input':
      return `no-input ${input.attempt}`;
    case 'transfer':
      return `transfer ${input.outcome}`;
  }
}

/** Formats a question to the dialog among the decisions, with the heard part of the last reply. */
export function askedText({ index, early, input, history }: DialogTurn): string {
  const last = history.at(-1);
  const heard = last?.role === 'bot' ? `, heard ${JSON.stringify(last.text)}` : '';
  return `turn ${index}${early === true ? ' early' : ''}, ${inputText(input)}${heard}`;
}
