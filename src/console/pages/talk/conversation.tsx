import { Badge, Group, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import type { BotLine, FloorMark, Transcript, TranscriptLine } from '../../live/transcript.ts';
import { say, useWords } from '../../words.ts';
import classes from './talk.module.css';
import { talkWords } from './words.ts';

/** How near its end a reader has to be for the list to follow what comes. */
const NEAR_END_PX = 80;

/** The live conversation: words, the heard part, interruptions, and reply times. */
export function Conversation({ transcript, bot }: { readonly transcript: Transcript; readonly bot: string }): ReactNode {
  const w = useWords(talkWords);
  const list = useRef<HTMLDivElement>(null);
  const { lines, partial } = transcript;
  const isNearEnd = useRef(true);
  // After whatever changed what is shown.
  useEffect(() => {
    const element = list.current;
    if (element !== null && isNearEnd.current) element.scrollTop = element.scrollHeight;
  });
  const isEmpty = lines.length === 0 && partial === '';
  return (
    <div
      ref={list}
      className={classes['conversation']}
      role="log"
      aria-label={w.conversation}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isNearEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    >
      {isEmpty ? (
        <Text c="dimmed" size="sm" ta="center" py="xl">
          {w.nothingYet}
        </Text>
      ) : null}
      {lines.map((line) => (
        <Line key={line.key} line={line} bot={bot} />
      ))}
      {partial === '' ? null : (
        <div className={classes['caller']} data-partial aria-hidden>
          <Text size="xs" c="dimmed">
            {w.you}
          </Text>
          <Text className={classes['growing']}>{partial}</Text>
        </div>
      )}
    </div>
  );
}

function Line({ line, bot }: { readonly line: TranscriptLine; readonly bot: string }): ReactNode {
  const w = useWords(talkWords);
  switch (line.type) {
    case 'caller': {
      // Its keys came one by one before.
      if (line.kind === 'keyed') return null;
      const text = line.kind === 'no-input' ? w.silent : line.text === '' ? w.notUnderstood : (line.text ?? w.noWords);
      return (
        <div className={classes['caller']}>
          <Text size="xs" c="dimmed">
            {w.you}
          </Text>
          <Text {...(line.text === null || line.text === '' ? { c: 'dimmed' } : {})}>{text}</Text>
        </div>
      );
    }
    case 'bot':
      return <Bot line={line} name={bot} />;
    case 'keys':
      return (
        <div className={classes['caller']}>
          <Text size="xs" c="dimmed">
            {w.you}
          </Text>
          <Text className="figures">{say(w.keyed, { keys: line.digits ?? '…' })}</Text>
        </div>
      );
    case 'mark':
      return (
        <Group justify="center">
          <Mark mark={line.mark} />
        </Group>
      );
    case 'missed':
      return (
        <Text size="xs" c="dimmed" ta="center">
          {say(w.missed, { count: line.count })}
        </Text>
      );
    case 'ordered':
      return (
        <Text size="xs" c="dimmed" ta="center">
          {line.order} · {line.by}
        </Text>
      );
    case 'answered-by':
    case 'ended':
      return null;
  }
}

/** The bot's words; unheard ones are struck through once that is known. */
function Bot({ line, name }: { readonly line: BotLine; readonly name: string }): ReactNode {
  const w = useWords(talkWords);
  const { outcome, sentences, marks, replyMs } = line;
  return (
    <div className={classes['bot']}>
      <Group gap={6} justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed" truncate>
          {name}
        </Text>
        {replyMs === undefined ? null : <Latency ms={replyMs} stages={line.stages} />}
      </Group>
      {outcome === undefined || outcome.heard === null ? (
        <Text>{sentences.map((sentence) => sentence ?? w.noWords).join(' ')}</Text>
      ) : (
        <Text>
          {outcome.heard}
          {outcome.unheard === '' ? null : (
            <Text component="s" inherit c="dimmed" td="line-through" title={w.heardOf}>
              {outcome.unheard}
            </Text>
          )}
        </Text>
      )}
      {marks.length === 0 ? null : (
        <Group gap={4} mt={4}>
          {marks.map((mark) => (
            <Mark key={`${mark.at} ${mark.what}`} mark={mark} />
          ))}
        </Group>
      )}
    </div>
  );
}

const MARKS = { hold: '‖', resume: '▸', clear: '■', restore: '↺' } as const;

function Mark({ mark: { what, by } }: { readonly mark: FloorMark }): ReactNode {
  const w = useWords(talkWords);
  return (
    <Badge variant="default" size="sm" tt="none" fw={500} leftSection={<span aria-hidden>{MARKS[what]}</span>} title={by}>
      {w[what]}
    </Badge>
  );
}

const STAGES = ['endpointing', 'asrFinal', 'dialog', 'ttsFirstByte', 'firstFrame'] as const;

/** How long the caller waited for a reply; where that time went on hover, focus or touch. */
function Latency({ ms, stages = {} }: { readonly ms: number; readonly stages: BotLine['stages'] }): ReactNode {
  const w = useWords(talkWords);
  const parts = STAGES.flatMap((stage) => {
    const took = stages[stage];
    return took === undefined ? [] : [{ stage, took }];
  });
  const label = (
    <>
      <Text size="xs" fw={600}>
        {w.stages}
      </Text>
      {parts.map(({ stage, took }) => (
        <Group key={stage} gap="md" justify="space-between" wrap="nowrap">
          <Text size="xs">{w[stage]}</Text>
          <Text size="xs" className="figures">
            {Math.round(took)} ms
          </Text>
        </Group>
      ))}
    </>
  );
  return (
    <Tooltip label={label} disabled={parts.length === 0} events={{ hover: true, focus: true, touch: true }} position="left">
      <UnstyledButton className={classes['latency']} aria-label={say(w.reply, { ms: Math.round(ms) })}>
        {Math.round(ms)} ms
      </UnstyledButton>
    </Tooltip>
  );
}
