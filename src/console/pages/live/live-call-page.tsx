import { Alert, Anchor, Button, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import { useCallNews, useLiveCall } from '../../live/live.ts';
import type { BotLine, Transcript } from '../../live/transcript.ts';
import { STAGES, TranscriptView, transcriptWords } from '../../live/transcript-view.tsx';
import type { LiveCallView } from '../../live/watch-client.ts';
import { useFormat } from '../../parts/format.ts';
import { Page, Empty, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { CallControls } from './call-controls.tsx';
import { callWords } from './call-words.ts';
import { ListenPanel, SpeakingBanner, useCallAudio } from './listen-panel.tsx';
import classes from './live.module.css';
import { Age, Floor, personOf, Standing, useTroubles } from './standing.tsx';

/** One call as it goes: what is said, how it fares, and what can be done to it. */
export function LiveCallPage(): ReactNode {
  const { callId } = useParams<{ callId: string }>();
  const w = useWords(callWords);
  const { call, isOver, connection } = useLiveCall(callId);
  const transcript = useCallNews(callId);
  return (
    <Page
      title={call === undefined ? w.titleUnknown : say(w.title, { bot: call.bot })}
      actions={
        <Anchor component={Link} href="/live" size="sm">
          {w.back}
        </Anchor>
      }
    >
      {connection === 'lost' && !isOver ? (
        <Alert color="yellow" variant="light" mb="sm" p="xs">
          {w.lost}
        </Alert>
      ) : null}
      {isOver && call !== undefined ? <Over callId={callId} reason={transcript.ended} /> : null}
      {call !== undefined ? (
        <Call key={call.id} call={call} transcript={transcript} isOver={isOver} />
      ) : isOver || transcript.refused !== undefined ? (
        <Empty title={w.over}>
          {w.gone} <RecordLink callId={callId} />
        </Empty>
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function RecordLink({ callId }: { readonly callId: string }): ReactNode {
  const w = useWords(callWords);
  return (
    <Anchor component={Link} href={`/calls/${callId}`}>
      {w.openRecord}
    </Anchor>
  );
}

function Over({ callId, reason }: { readonly callId: string; readonly reason: string | undefined }): ReactNode {
  const w = useWords(callWords);
  return (
    <Alert variant="light" color="gray" mb="sm">
      <Group justify="space-between">
        <Text>{reason === undefined ? w.over : say(w.overWhy, { reason })}</Text>
        <Button component={Link} href={`/calls/${callId}`} size="xs">
          {w.openRecord}
        </Button>
      </Group>
    </Alert>
  );
}

interface CallProps {
  readonly call: LiveCallView;
  readonly transcript: Transcript;
  readonly isOver: boolean;
}

function Call({ call, transcript, isOver }: CallProps): ReactNode {
  const mayListen = useMay('calls:listen');
  const mayControl = useMay('calls:control');
  const { audio, standing } = useCallAudio(call.id);
  const w = useWords(callWords);
  const names = { caller: w.caller, bot: call.mode === 'listen' ? w.agent : w.bot };
  return (
    <div className={classes['call']}>
      <div className={classes['main']}>
        {isOver ? null : <SpeakingBanner audio={audio} standing={standing} />}
        <Facts call={call} isOver={isOver} />
        <Paper withBorder>
          <TranscriptView
            transcript={transcript}
            label={w.transcript}
            names={names}
            isBotSpeaking={!isOver && call.phase === 'bot-speaking'}
          />
        </Paper>
      </div>
      <Stack gap="sm" component="aside" className={classes['side']}>
        {mayListen && !isOver ? <ListenPanel audio={audio} standing={standing} /> : null}
        {mayControl && !isOver ? <CallControls call={call} audio={audio} standing={standing} mayListen={mayListen} /> : null}
        <HealthPanel call={call} />
        <ReplyPanel transcript={transcript} />
        <StatePanel transcript={transcript} />
      </Stack>
    </div>
  );
}

function Facts({ call, isOver }: { readonly call: LiveCallView; readonly isOver: boolean }): ReactNode {
  const w = useWords(callWords);
  return (
    <Group gap="lg" mb="sm">
      {isOver ? null : <Floor phase={call.phase} big />}
      <Fact name={w.person}>{personOf(call)}</Fact>
      <Fact name={w.carrier}>{call.carrier}</Fact>
      {isOver ? null : (
        <Fact name={w.age}>
          <Age since={call.since} />
        </Fact>
      )}
      <Fact name={w.turns}>{call.turns}</Fact>
      {call.answeredBy === null ? null : <Fact name={w.answeredBy}>{call.answeredBy}</Fact>}
      {isOver ? null : <Standing call={call} />}
    </Group>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <Text size="sm" className="figures">
      <span className={classes['dim']}>{name} </span>
      {children}
    </Text>
  );
}

function Panel({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function HealthPanel({ call: { health } }: { readonly call: LiveCallView }): ReactNode {
  const w = useWords(callWords);
  const troubles = useTroubles()(health);
  return (
    <Panel title={w.health}>
      {troubles.length === 0 ? (
        <Text size="sm">{w.healthy}</Text>
      ) : (
        troubles.map(({ long }) => (
          <Text size="sm" key={long} className={classes['trouble']}>
            <span aria-hidden>⚠ </span>
            {long}
          </Text>
        ))
      )}
    </Panel>
  );
}

/** Where the time of the last reply went. */
function ReplyPanel({ transcript: { lines } }: { readonly transcript: Transcript }): ReactNode {
  const w = useWords(callWords);
  const stageNames = useWords(transcriptWords);
  const { duration } = useFormat();
  const reply = lines.findLast((line): line is BotLine => line.type === 'bot' && line.replyMs !== undefined);
  return (
    <Panel title={w.lastReply}>
      {reply?.replyMs === undefined ? (
        <Text size="sm" c="dimmed">
          {w.noReply}
        </Text>
      ) : (
        <Table className="figures" verticalSpacing={2} horizontalSpacing={0} withRowBorders={false}>
          <Table.Tbody>
            {STAGES.map((stage) => [stage, reply.stages?.[stage]] as const).map(([stage, ms]) =>
              ms === undefined ? null : (
                <Table.Tr key={stage}>
                  <Table.Th fw={400}>{stageNames[stage]}</Table.Th>
                  <Table.Td ta="right">{duration(ms)}</Table.Td>
                </Table.Tr>
              ),
            )}
            <Table.Tr>
              <Table.Th>{w.total}</Table.Th>
              <Table.Td ta="right" fw={600}>
                {duration(reply.replyMs)}
              </Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
}

/** Where the dialog is, as far as it tells. */
function StatePanel({ transcript: { state } }: { readonly transcript: Transcript }): ReactNode {
  const w = useWords(callWords);
  if (state === undefined) return null;
  const slots = state.slots === null ? undefined : Object.entries(state.slots).filter(([, value]) => value !== '');
  return (
    <Panel title={w.slots}>
      {state.step === null ? null : (
        <Text size="sm" mb={4}>
          <span className={classes['dim']}>{w.step}: </span>
          {state.step}
        </Text>
      )}
      {slots === undefined || slots.length === 0 ? (
        <Text size="sm" c="dimmed">
          {slots === undefined ? w.hiddenSlots : w.noSlots}
        </Text>
      ) : (
        <Table verticalSpacing={2} horizontalSpacing={0} withRowBorders={false}>
          <Table.Tbody>
            {slots.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th fw={400}>{name}</Table.Th>
                <Table.Td className={classes['value']}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
}
