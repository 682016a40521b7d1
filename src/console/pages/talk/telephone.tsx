import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { useCallNews } from '../../live/live.ts';
import { noTranscript, type Transcript } from '../../live/transcript.ts';
import { TranscriptView } from '../../live/transcript-view.tsx';
import { useFormat } from '../../parts/format.ts';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { CallPanel, callIdOf } from './call-panel.tsx';
import classes from './talk.module.css';
import { type TalkState, useTalk } from './use-talk.ts';
import { talkWords } from './words.ts';

export interface BotList {
  readonly bots: readonly { readonly name: string; readonly default?: boolean }[];
}

export interface TelephoneProps extends BotList {
  /** A bot's file that answers in place of the bot, which is then the only one. */
  readonly draft?: string | undefined;
}

/** The telephone with the conversation beside it. */
export function Telephone({ bots, draft }: TelephoneProps): ReactNode {
  const talk = useTalk(draft);
  const [chosen, choose] = useState(() => firstOf(bots));
  const callId = callIdOf(talk.state);
  return (
    <div className={classes['columns']}>
      {callId === undefined ? (
        <Shown talk={talk} bots={bots} chosen={chosen} choose={choose} transcript={noTranscript} />
      ) : (
        <Followed key={callId} callId={callId} talk={talk} bots={bots} chosen={chosen} choose={choose} />
      )}
    </div>
  );
}

type ShownProps = Pick<Parameters<typeof CallPanel>[0], 'talk' | 'chosen' | 'choose' | 'transcript'> & BotList;

function Followed({ callId, ...rest }: Omit<ShownProps, 'transcript'> & { readonly callId: string }): ReactNode {
  return <Shown {...rest} transcript={useCallNews(callId)} />;
}

function Shown({ talk, bots, chosen, choose, transcript }: ShownProps): ReactNode {
  const w = useWords(talkWords);
  const mayListen = useMay('calls:listen');
  const { state } = talk;
  return (
    <>
      <Stack gap="md">
        <CallPanel talk={talk} bots={bots.map(({ name }) => name)} chosen={chosen} choose={choose} transcript={transcript} />
        {state.name === 'over' ? <After callId={state.callId} /> : null}
      </Stack>
      <Stack gap="md" miw={0}>
        <Card withBorder padding={0}>
          <Group justify="space-between" px="md" py="xs" className={classes['head'] ?? ''}>
            <Title order={2} size="h5">
              {w.conversation}
            </Title>
            <Replies transcript={transcript} state={state} />
          </Group>
          {mayListen ? null : (
            <Text size="sm" c="dimmed" px="md" pt="sm">
              {w.noWords}
            </Text>
          )}
          <TranscriptView transcript={transcript} label={w.conversation} names={{ caller: w.you, bot: chosen }} isOwnCall />
        </Card>
        <Where transcript={transcript} />
      </Stack>
    </>
  );
}

/** The last reply's latency and the slowest one. */
function Replies({ transcript: { replies }, state }: { readonly transcript: Transcript; readonly state: TalkState }): ReactNode {
  const w = useWords(talkWords);
  const format = useFormat();
  const last = replies.at(-1);
  if (last === undefined) return null;
  const figures = [
    [w.lastReply, format.duration(last.ms)],
    [w.slowest, format.duration(Math.max(...replies.map(({ ms }) => ms)))],
    ...(state.name === 'over' ? [[w.duration, format.duration(state.tookMs)]] : []),
  ];
  return (
    <Group gap="md">
      {figures.map(([name, figure]) => (
        <Text key={name} size="sm" c="dimmed">
          {name}{' '}
          <Text component="span" inherit c="var(--mantine-color-text)" className="figures">
            {figure}
          </Text>
        </Text>
      ))}
    </Group>
  );
}

/** The flow's step, and what the bot has collected so far. */
function Where({ transcript: { state } }: { readonly transcript: Transcript }): ReactNode {
  const w = useWords(talkWords);
  if (state === undefined) return null;
  const slots = Object.entries(state.slots ?? {});
  return (
    <Card withBorder padding="md">
      <Group justify="space-between" mb={slots.length > 0 ? 'xs' : 0}>
        <Title order={2} size="h5">
          {w.where}
        </Title>
        {state.step === null ? null : (
          <Text size="sm" c="dimmed">
            {w.step}{' '}
            <Text component="span" inherit ff="monospace" c="var(--mantine-color-text)">
              {state.step}
            </Text>
          </Text>
        )}
      </Group>
      {slots.length === 0 ? (
        <Text size="sm" c="dimmed">
          {w.noSlots}
        </Text>
      ) : (
        <dl className={classes['slots']}>
          {slots.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value === '' ? w.unset : value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

/** Where the call is found now. */
function After({ callId }: { readonly callId: string }): ReactNode {
  const w = useWords(talkWords);
  return (
    <Card withBorder padding="md">
      <Anchor component={Link} href={`/calls/${callId}`} fw={600}>
        {w.open}
      </Anchor>
      <Text size="sm" c="dimmed">
        {w.openHint}
      </Text>
    </Card>
  );
}

/** The bot that the address names (`?bot=`), the default one, or the first. */
function firstOf(bots: BotList['bots']): string {
  const asked = new URLSearchParams(location.search).get('bot');
  const found = bots.find(({ name }) => name === asked) ?? bots.find((bot) => bot.default === true) ?? bots[0];
  return found?.name ?? '';
}
