import { Alert, Badge, Box, Group, Skeleton, Tabs, Text } from '@mantine/core';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link, useParams } from 'wouter';
import { Refused } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { Page, Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { outcomeWords } from '../calls/words.ts';
import { Analyses, recognisedWords } from './analyses.tsx';
import { type Call, drawnAt, drawnFromRecord, isErased, lengthOf, utterancesOf } from './call-model.ts';
import css from './call.module.css';
import { CallLinks, useLinkedSecond } from './call-links.tsx';
import { CallCosts } from './call-costs.tsx';
import { Care, Webhooks } from './care.tsx';
import { Events } from './events-list.tsx';
import { Facts } from './facts.tsx';
import { Player } from './player.ts';
import { ReviewPanel } from '../inbox/review-panel.tsx';
import { useAnalyses, useCall, useSound } from './queries.ts';
import { Replay } from './replay.tsx';
import { Timing } from './timing.tsx';
import { Transcript } from './transcript.tsx';
import { Waveform } from './waveform.tsx';
import { callWords, nameIn } from './words.ts';

/** One call: its sound and events, its transcript, and its result. */
export function CallPage(): ReactNode {
  const w = useWords(callWords);
  const { callId } = useParams<{ callId: string }>();
  const { data, error, refetch } = useCall(callId);
  if (data !== undefined) return <OneCall key={data.id} call={data} />;
  if (error === null) return <Loading />;
  return (
    <Page title={w.call}>
      {error instanceof Refused && error.status === 404 ? (
        <Empty title={w.notFound}>
          {w.notFoundHint} <Link href="/calls">{w.back}</Link>
        </Empty>
      ) : (
        <Failure error={error} retry={() => void refetch()} />
      )}
    </Page>
  );
}

function OneCall({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const player = useState(() => new Player())[0];
  useLinkedSecond(player);
  const [mayHear, mayReadAnalyses] = [useMay('recordings:read'), useMay('analyses:read')];
  const { data: recording, error, isLoading } = useSound(call);
  const { data: analyses } = useAnalyses(call.id);
  const sound = useMemo(() => recording ?? drawnFromRecord(call, lengthOf(call)), [recording, call]);
  const utterances = useMemo(() => utterancesOf(call, recording, recognisedWords(analyses)), [call, recording, analyses]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || event.target !== document.body) return;
      event.preventDefault();
      player.toggle();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [player]);
  const who = call.from === '' ? call.id : `${call.from} → ${call.to}`;
  return (
    <Page title={`${w.call} ${who}`} above={<CallLinks callId={call.id} />} actions={<Care call={call} />}>
      <Headline call={call} />
      {isErased(call) ? (
        <Alert variant="default" mb="sm">
          {w.erased}
        </Alert>
      ) : null}
      {call.mode === 'listen' ? (
        <Alert variant="default" mb="sm">
          {w.listened}
        </Alert>
      ) : null}
      {call.rehearsal ? (
        <Alert variant="default" mb="sm">
          {w.rehearsed}
        </Alert>
      ) : null}
      {error === null ? null : (
        <Alert variant="default" mb="sm" title={w.soundFailed} role="alert">
          {error.message}
        </Alert>
      )}
      {isLoading ? (
        <Skeleton height={220} />
      ) : (
        <Waveform call={call} player={player} utterances={utterances} sound={sound} hasSound={recording !== undefined} />
      )}
      {call.recorded && mayHear ? null : (
        <Text size="xs" c="dimmed" mt={4}>
          {call.recorded ? w.mayNotHear : w.noRecording}
        </Text>
      )}
      <Box className={css['columns']}>
        <Transcript call={call} utterances={utterances} player={player} />
        <section className={css['panel']}>
          <Tabs defaultValue="timing" keepMounted={false}>
            <Tabs.List mb="sm">
              <Tabs.Tab value="timing">{w.timing}</Tabs.Tab>
              <Tabs.Tab value="collected">{w.collected}</Tabs.Tab>
              <Tabs.Tab value="events">{w.events}</Tabs.Tab>
              {mayReadAnalyses ? <Tabs.Tab value="analysis">{w.analysis}</Tabs.Tab> : null}
              <Tabs.Tab value="webhooks">{w.webhooks}</Tabs.Tab>
              {mayReadAnalyses ? <Tabs.Tab value="replay">{w.replay}</Tabs.Tab> : null}
            </Tabs.List>
            <Tabs.Panel value="timing">
              <Timing call={call} player={player} />
            </Tabs.Panel>
            <Tabs.Panel value="collected">
              <Facts call={call} />
              <CallCosts cost={call.cost} />
            </Tabs.Panel>
            <Tabs.Panel value="events">
              <Events call={call} player={player} />
            </Tabs.Panel>
            <Tabs.Panel value="analysis">
              <Analyses call={call} player={player} />
            </Tabs.Panel>
            <Tabs.Panel value="webhooks">
              <Webhooks callId={call.id} />
            </Tabs.Panel>
            <Tabs.Panel value="replay">
              <Replay call={call} />
            </Tabs.Panel>
          </Tabs>
          <ReviewPanel callId={call.id} onListen={(atMs) => player.playFrom(drawnAt(call, atMs))} />
        </section>
      </Box>
    </Page>
  );
}

function Headline({ call }: { readonly call: Call }): ReactNode {
  const w = useWords(callWords);
  const outcomes = useWords(outcomeWords);
  const format = useFormat();
  const { startedAt, endedAt, endReason, direction, carrier, bot, disposition, language, legalHold } = call;
  const facts = [
    direction === 'inbound' ? w.inbound : w.outbound,
    bot,
    carrier,
    language,
    ...(endedAt === null ? [] : [format.duration(Date.parse(endedAt) - Date.parse(startedAt))]),
    ...(endReason === null ? [] : [nameIn(outcomes, endReason) ?? endReason]),
  ].filter((fact) => fact !== '');
  return (
    <Group gap="xs" mb="sm" mt={-8}>
      <Text size="sm" c="dimmed" className="figures">
        <Moment at={startedAt} /> · {facts.join(' · ')}
      </Text>
      {disposition === null ? null : (
        <Badge variant="default" tt="none">
          {w.disposition}: {disposition}
        </Badge>
      )}
      {legalHold ? (
        <Badge variant="default" tt="none">
          {w.held}
        </Badge>
      ) : null}
    </Group>
  );
}
