import { words, say, useWords } from '../words.ts';
import { Text, Tooltip, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import {
  type BotLine,
  type FloorMark,
  settledLines,
  type Transcript as Conversation,
  type TranscriptLine,
} from './transcript.ts';
import { useFormat } from '../parts/format.ts';
import { useOrderText } from '../parts/orders.ts';
import { Moment } from '../parts/states.tsx';
import { Said, Told, Transcript } from '../parts/transcript.tsx';
import classes from '../parts/transcript.module.css';

/** Of a call as it goes. */
export const transcriptWords = words(
  {
    endpointing: 'Silence waited for',
    asrFinal: 'Recogniser',
    dialog: 'Dialog',
    ttsFirstByte: 'First sound',
    firstFrame: 'On the wire',
    transcriptEmpty: 'What is said stands here as it is said.',
    hidden: 'Your role does not show what is said',
    silence: 'silence',
    notUnderstood: 'not understood',
    unheard: 'never heard: ',
    speaking: 'being spoken now',
    replyAfter: 'reply after {time}',
    hold: 'A sound over the bot: held',
    resume: 'It was nothing: the bot speaks on',
    clear: 'The caller talked over the bot: it stopped',
    restore: 'The interruption was nothing: the bot speaks on',
    keys: 'Keys',
    answered: 'Answered by: {by} ({percent} %)',
    missed: '{count} updates were left out: this browser was too slow.',
    ended: 'The call ended: {reason}',
  },
  {
    endpointing: 'चुप्पी की प्रतीक्षा',
    asrFinal: 'पहचान',
    dialog: 'संवाद',
    ttsFirstByte: 'पहली आवाज़',
    firstFrame: 'लाइन पर',
    transcriptEmpty: 'जो कहा जाएगा, वह यहाँ साथ-साथ दिखेगा।',
    hidden: 'आपकी भूमिका में शब्द नहीं दिखते',
    silence: 'चुप्पी',
    notUnderstood: 'समझ नहीं आया',
    unheard: 'सुना नहीं गया: ',
    speaking: 'अभी बोला जा रहा है',
    replyAfter: '{time} बाद उत्तर',
    hold: 'बॉट के ऊपर आवाज़: बॉट रुका',
    resume: 'कुछ नहीं था: बॉट आगे बोलता है',
    clear: 'कॉलर बीच में बोला: बॉट चुप हुआ',
    restore: 'टोकना कुछ नहीं था: बॉट आगे बोलता है',
    keys: 'कुंजियाँ',
    answered: 'किसने उठाया: {by} ({percent} %)',
    missed: '{count} सूचनाएँ छूट गईं: यह ब्राउज़र धीमा था।',
    ended: 'कॉल समाप्त: {reason}',
  },
);

export interface TranscriptProps {
  readonly transcript: Conversation;
  /** What the transcript is called. */
  readonly label: string;
  /** What the two sides are called. */
  readonly names: Names;
  /** Whether the bot is speaking now. */
  readonly isBotSpeaking?: boolean;
  /** The reader is the caller: growing words are not read to them, and each new line is. */
  readonly isOwnCall?: boolean;
}

interface Names {
  readonly caller: string;
  readonly bot: string;
}

/** A call's log as it goes, which follows the newest line until somebody scrolls up. */
export function TranscriptView(props: TranscriptProps): ReactNode {
  const { transcript, label, names, isBotSpeaking = false, isOwnCall = false } = props;
  const w = useWords(transcriptWords);
  const { partial } = transcript;
  const lines = settledLines(transcript);
  const last = lines.findLast(({ type }) => type === 'bot');
  return (
    <>
      <Transcript label={label} isLog={isOwnCall}>
        {lines.length === 0 && partial === '' ? <Text c="dimmed">{w.transcriptEmpty}</Text> : null}
        {lines.map((line) => (
          <Line key={line.key} line={line} isSpeaking={isBotSpeaking && line === last} {...names} />
        ))}
        {partial === '' ? null : (
          <Said side="caller" who={names.caller} isGrowing isUnread={isOwnCall}>
            {partial}
          </Said>
        )}
      </Transcript>
      {isOwnCall ? null : <Announcer lines={lines} {...names} />}
    </>
  );
}

/** Tells a screen reader each whole turn; growing words would talk over themselves. */
function Announcer({ lines, caller, bot }: Names & { readonly lines: readonly TranscriptLine[] }): ReactNode {
  const done = lines.findLast((line) => line.type === 'caller' || (line.type === 'bot' && line.outcome !== undefined));
  return (
    <VisuallyHidden aria-live="polite" data-announcer>
      {done?.type === 'caller' ? `${caller}: ${done.text ?? ''}` : null}
      {done?.type === 'bot' ? `${bot}: ${done.outcome?.heard ?? ''}` : null}
    </VisuallyHidden>
  );
}

interface LineProps extends Names {
  readonly line: TranscriptLine;
  readonly isSpeaking: boolean;
}

const Line = memo(function Line({ line, isSpeaking, caller, bot }: LineProps): ReactNode {
  const w = useWords(transcriptWords);
  const orderText = useOrderText();
  switch (line.type) {
    case 'caller':
      // What was keyed came as keys, one by one.
      if (line.kind === 'keyed') return null;
      return (
        <Said side="caller" who={caller} at={when(line.at)}>
          {line.text ?? <Hint>{w.hidden}</Hint>}
          {line.text !== '' ? null : <Hint>{line.kind === 'no-input' ? w.silence : w.notUnderstood}</Hint>}
        </Said>
      );
    case 'bot':
      return (
        <Said side="bot" who={bot} at={when(line.at)}>
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
        <Said side="caller" who={w.keys} at={when(line.at)}>
          {line.digits === null ? (
            <Hint>{w.hidden}</Hint>
          ) : (
            line.digits.split('').map((digit, index) => <kbd key={index}>{digit}</kbd>)
          )}
        </Said>
      );
    case 'mark':
      return (
        <Told at={when(line.at)}>
          <Mark mark={line.mark} />
        </Told>
      );
    case 'answered-by':
      return <Told at={when(line.at)}>{say(w.answered, { by: line.by, percent: Math.round(100 * line.confidence) })}</Told>;
    case 'ordered':
      return <Told at={when(line.at)}>{orderText(line.order, line.by)}</Told>;
    case 'missed':
      return <Told at={when(line.at)}>{say(w.missed, { count: line.count })}</Told>;
    case 'ended':
      return <Told at={when(line.at)}>{say(w.ended, { reason: line.reason })}</Told>;
  }
});

/** When a line was, where that is known. */
function when(at: string): ReactNode {
  return at === '' ? null : <Moment at={at} />;
}

function BotText({
  line: { sentences, outcome },
  isSpeaking,
}: {
  readonly line: BotLine;
  readonly isSpeaking: boolean;
}): ReactNode {
  const w = useWords(transcriptWords);
  if (outcome !== undefined)
    return (
      <>
        {outcome.heard ?? <Hint>{w.hidden}</Hint>}
        {outcome.unheard === '' ? null : (
          <s>
            <VisuallyHidden>{w.unheard}</VisuallyHidden>
            {outcome.unheard}
          </s>
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

/** The stages of a reply, in the order in which they pass. */
export const STAGES = ['endpointing', 'asrFinal', 'dialog', 'ttsFirstByte', 'firstFrame'] as const;

/** How long the caller waited; where that time went on hover, focus or touch. */
function ReplyTime({ line: { replyMs, stages = {} } }: { readonly line: BotLine }): ReactNode {
  const w = useWords(transcriptWords);
  const { duration } = useFormat();
  if (replyMs === undefined) return null;
  const parts = STAGES.flatMap((stage) => {
    const ms = stages[stage];
    return ms === undefined ? [] : [`${w[stage]} ${duration(ms)}`];
  });
  return (
    <Tooltip label={parts.join(' · ')} disabled={parts.length === 0} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton className={`${classes['chip']} figures`}>{say(w.replyAfter, { time: duration(replyMs) })}</UnstyledButton>
    </Tooltip>
  );
}

const MARK_SIGNS: Readonly<Record<FloorMark['what'], string>> = { hold: '‖', resume: '▶', clear: '■', restore: '▶' };

function Mark({ mark: { what, by } }: { readonly mark: FloorMark }): ReactNode {
  const w = useWords(transcriptWords);
  return (
    <span className={classes['chip']} data-mark={what} title={by}>
      <span aria-hidden>{MARK_SIGNS[what]} </span>
      {w[what]}
    </span>
  );
}

function Hint({ children }: { readonly children: ReactNode }): ReactNode {
  return <em className={classes['hint']}>{children}</em>;
}
