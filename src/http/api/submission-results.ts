import type { Store } from '../../store/port.ts';
import type { SubmissionRef } from '../../store/submissions.ts';

const PAGE = 200;

/** The documents of a submission in the order of its recordings, one line of JSON each, read as they are sent. */
export async function* resultLines(
  { submissions }: Pick<Store, 'submissions'>,
  ref: SubmissionRef,
  signal: AbortSignal,
): AsyncIterable<string> {
  for (let after = -1; ;) {
    const page = await submissions.items(ref, { after, limit: PAGE, state: 'done' });
    for (const { index } of page) {
      signal.throwIfAborted();
      const document = await submissions.document({ ...ref, index });
      if (document !== undefined) yield `${JSON.stringify(document)}\n`;
      after = index;
    }
    if (page.length < PAGE) return;
  }
}
