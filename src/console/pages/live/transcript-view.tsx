import { Button, Text, VisuallyHidden } from '@mantine/core';
import { memo, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { BotLine, FloorMark, Transcript, TranscriptLine } from '../../live/transcript.ts';
import { Moment } from '../../parts/time.tsx';
import { say, useWords } from '../../words.ts';
import { callWords } from './call-words.ts';
import classes from './live.module.css';
import { useDuration } from './standing.tsx';

interface TranscriptProps {
  readonly transcript: Transcript;
  /** Whether the bot is speaking now. */
  readonly isBotSpeaking: boolean;
  /** A call between people: the bot's side is another person. */
  readonly isBetweenPeople: boolean;
}

/** A call's live log, which follows the newest line until scrolled up. */
export function TranscriptView({ transcript, isBotSpeaking, isBetweenPeople }: TranscriptProps): ReactNode {
  const w = useWords(callWords);
  const { lines, partial } = transcript;
  const frame = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  useLayoutEffect(() => {
    if (isFollowing) frame.current?.scrollTo({ top: frame.current.scrollHeight });
  });
  const last = lines.findLast(({ type }) => type === 'bot');
  return (
    <div className={classes['transcript']}>
      <section
        ref={frame}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
        tabIndex={0}
        aria-label={w.transcript}
        className={classes['log']}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < 40)
        }
      >
        {lines.length === 0 && partial === '' ? <Text c="dimmed">{w.transcriptEmpty}</Text> : null}
        {lines.map((line) => (
          <Line key={line.key} line={line} isSpeaking={isBotSpeaking && line === last} isBetweenPeople={isBetweenPeople} />
        ))}
        {partial === '' ? null : (
          <div className={classes['line']} data-side="caller" data-partial>
            <span className={classes['who']}>{w.caller}</span>
            <span className={classes['text']}>
              {partial}
              <span aria-hidden className={classes['caret']} />
            </span>
          </div>
        )}
      </section>
      {isFollowing ? null : (
        <Button size="compact-sm" variant="filled" className={classes['to-now']} onClick={() => setFollowing(true)}>
          {w.toNow}
        </Button>
      )}
      <Announcer lines={lines} isBetweenPeople={isBetweenPeople} />
    </div>
  );
}

/** Tells a screen reader each whole turn; growing words would talk over themselves. */
function Announcer({
  lines,
  isBetweenPeople,
}: {
  readonly lines: readonly TranscriptLine[];
  readonly isBetweenPeople: boolean;
}): ReactNode {
  const w = useWords(callWords);
  const done = lines.findLast((line) => line.type === 'caller' || (line.type === 'bot' && line.outcome !== undefined));
  return (
    <VisuallyHidden aria-live="polite" data-announcer>
      {done?.type === 'caller' ? `${w.caller}: ${done.text ?? ''}` : null}
      {done?.type === 'bot' ? `${isBetweenPeople ? w.agent : w.bot}: ${done.outcome?.heard ?? ''}` : null}
    </VisuallyHidden>
  );
}

interface LineProps {
  readonly line: TranscriptLine;
  readonly isSpeaking: boolean;
  readonly isBetweenPeople: boolean;
}

const Line = memo(function Line({ line, isSpeaking, isBetweenPeople }: LineProps): ReactNode {
  const w = useWords(callWords);
  switch (line.type) {
    case 'caller':
      return (
        <Said side="caller" who={w.caller} at={line.at}>
          {line.text ?? <Hint>{w.hidden}</Hint>}
          {line.text !== '' ? null : <Hint>{line.kind === 'no-input' ? w.silence : w.notUnderstood}</Hint>}
        </Said>
      );
    case 'bot':
      return (
        <Said side="bot" who={isBetweenPeople ? w.agent : w.bot} at={line.at}>
          <BotText line={line} isSpeaking={isSpeaking} />
          {line.replyMs === undefined && line.marks.length === 0 ? null : (
            <div>
              <ReplyTime line={line} />
              {line.marks.map((mark, index) => (
                <Mark key={index} mark={mark} />
              ))}
            </div>
          )}
        </Said>
      );
    case 'keys':
      return (
        <Said side="caller" who={w.keys} at={line.at}>
          {line.digits === null ? (
            <Hint>{w.hidden}</Hint>
          ) : (
            line.digits.split('').map((digit, index) => <kbd key={index}>{digit}</kbd>)
          )}
        </Said>
      );
    case 'mark':
      return (
        <Event at={line.at}>
          <Mark mark={line.mark} />
        </Event>
      );
    case 'answered-by':
      return <Event at={line.at}>{say(w.answered, { by: line.by, percent: Math.round(100 * line.confidence) })}</Event>;
    case 'ordered':
      return <Event at={line.at}>{say(w.ordered, { by: line.by, order: orderName(line.order, w) })}</Event>;
    case 'missed':
      return <Event at={line.at}>{say(w.missed, { count: line.count })}</Event>;
    case 'ended':
      return <Event at={line.at}>{say(w.ended, { reason: line.reason })}</Event>;
  }
});

function orderName(order: string, w: Readonly<Record<string, string>>): string {
  return w[`order-${order}`] ?? order;
}

function Said({
  side,
  who,
  at,
  children,
}: {
  readonly side: string;
  readonly who: string;
  readonly at: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={classes['line']} data-side={side}>
      <span className={classes['who']}>{who}</span>
      <div className={classes['text']}>{children}</div>
      <span className={classes['at']}>{at === '' ? null : <Moment at={at} />}</span>
    </div>
  );
}

function Event({ at, children }: { readonly at: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className={classes['line']} data-side="event">
      <span className={classes['who']} />
      <span className={classes['text']}>{children}</span>
      <span className={classes['at']}>{at === '' ? null : <Moment at={at} />}</span>
    </div>
  );
}

function BotText({
  line: { sentences, outcome },
  isSpeaking,
}: {
  readonly line: BotLine;
  readonly isSpeaking: boolean;
}): ReactNode {
  const w = useWords(callWords);
  if (outcome !== undefined)
    return (
      <>
        {outcome.heard ?? <Hint>{w.hidden}</Hint>}
        {outcome.unheard === '' ? null : (
          <del>
            <VisuallyHidden>{w.unheard}</VisuallyHidden>
            {outcome.unheard}
          </del>
        )}
      </>
    );
  return sentences.map((sentence, index) => {
    const isNow = isSpeaking && index === sentences.length - 1;
    return (
      <span key={index} className={isNow ? classes['now'] : undefined} title={isNow ? w.speaking : undefined}>
        {sentence ?? <Hint>{w.hidden}</Hint>}{' '}
      </span>
    );
  });
}

function ReplyTime({ line: { replyMs } }: { readonly line: BotLine }): ReactNode {
  const w = useWords(callWords);
  const duration = useDuration();
  return replyMs === undefined ? null : (
    <span className={`${classes['chip']} figures`}>{say(w.replyAfter, { time: duration(replyMs) })}</span>
  );
}

const MARK_SIGNS: Readonly<Record<FloorMark['what'], string>> = { hold: '‖', resume: '▶', clear: '■', restore: '▶' };

function Mark({ mark: { what, by } }: { readonly mark: FloorMark }): ReactNode {
  const w = useWords(callWords);
  return (
    <span className={classes['chip']} data-mark={what} title={by}>
      <span aria-hidden>{MARK_SIGNS[what]} </span>
      {w[what]}
    </span>
  );
}

function Hint({ children }: { readonly children: ReactNode }): ReactNode {
  return <em className={classes['dim']}>{children}</em>;
}
