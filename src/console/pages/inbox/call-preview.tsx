import { Anchor, Group, Skeleton, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../parts/format.ts';
import { Failure, Moment } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import { recognisedWords } from '../call/analyses.tsx';
import { type Call, drawnAt, drawnFromRecord, lengthOf, utterancesOf } from '../call/call-model.ts';
import { Player } from '../call/player.ts';
import { useAnalyses, useCall, useFixture, useSound } from '../call/queries.ts';
import { KeepTest } from '../call/replay.tsx';
import { Transcript } from '../call/transcript.tsx';
import { Waveform } from '../call/waveform.tsx';
import { callWords, nameIn } from '../call/words.ts';
import { outcomeWords } from '../calls/words.ts';
import css from './inbox.module.css';
import { callLink, ReviewPanel } from './review-panel.tsx';
import { inboxWords } from './words.ts';

/** One call of the list, to be heard from the moment that counts. @param atMs that moment, since the call's start */
export function CallPreview({ callId, atMs }: { readonly callId: string; readonly atMs: number }): ReactNode {
  const w = useWords(inboxWords);
  const { data, error, refetch } = useCall(callId);
  if (data !== undefined) return <Preview key={data.id} call={data} atMs={atMs} />;
  if (error === null) return <Skeleton height={400} />;
  return (
    <>
      <Title order={2} size="h5" mb="sm">
        {w.gone}
      </Title>
      <Failure error={error} retry={() => void refetch()} />
    </>
  );
}

function Preview({ call, atMs }: { readonly call: Call; readonly atMs: number }): ReactNode {
  const w = useWords(inboxWords);
  const of = useWords(callWords);
  const format = useFormat();
  const outcomes = useWords(outcomeWords);
  const player = useState(() => new Player())[0];
  const [mayHear, mayReadAnalyses] = [useMay('recordings:read'), useMay('analyses:read')];
  const { data: recording, isLoading } = useSound(call);
  const { data: analyses } = useAnalyses(call.id);
  const sound = useMemo(() => recording ?? drawnFromRecord(call, lengthOf(call)), [recording, call]);
  const utterances = useMemo(() => utterancesOf(call, recording, recognisedWords(analyses)), [call, recording, analyses]);
  usePlayKey(player);
  const hasSound = recording !== undefined;
  useEffect(() => {
    // The wave is drawn by now, and takes the place.
    if (!isLoading && sound.durationMs > 0) player.seek(drawnAt(call, atMs));
  }, [call, atMs, player, isLoading, sound]);
  const { startedAt, endedAt, endReason, from, to, bot } = call;
  const facts = [
    bot,
    ...(endedAt === null ? [] : [format.duration(Date.parse(endedAt) - Date.parse(startedAt))]),
    ...(endReason === null ? [] : [nameIn(outcomes, endReason) ?? endReason]),
  ];
  return (
    <>
      <Group justify="space-between" gap="xs" mb={2}>
        <Title order={2} size="h5" className="figures">
          {from === '' ? call.id : `${from} → ${to}`}
        </Title>
        <Anchor component={Link} href={callLink(call.id, drawnAt(call, atMs))} size="sm">
          {w.whole}
        </Anchor>
      </Group>
      <Text size="xs" c="dimmed" mb="sm" className="figures">
        <Moment at={startedAt} /> · {facts.join(' · ')}
      </Text>
      {isLoading ? (
        <Skeleton height={220} />
      ) : (
        <Waveform call={call} player={player} utterances={utterances} sound={sound} hasSound={hasSound} />
      )}
      {call.recorded && mayHear ? null : (
        <Text size="xs" c="dimmed" mt={4}>
          {call.recorded ? of.mayNotHear : of.noRecording}
        </Text>
      )}
      <div className={css['halves']}>
        <Transcript call={call} utterances={utterances} player={player} />
        <div>
          <ReviewPanel callId={call.id} onListen={(moment) => player.playFrom(drawnAt(call, moment))} />
          {mayReadAnalyses ? <Keep callId={call.id} /> : null}
        </div>
      </div>
    </>
  );
}

/** Space plays and pauses, wherever nothing is written. */
function usePlayKey(player: Player): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || isControl(event.target)) return;
      event.preventDefault();
      player.toggle();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [player]);
}

/** Whether a key is meant for a control: for what it writes, or what it presses. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, button, a, [role="option"]') !== null;
}

function Keep({ callId }: { readonly callId: string }): ReactNode {
  const w = useWords(inboxWords);
  const { data } = useFixture(callId);
  if (data === undefined) return null;
  return (
    <div className={css['keep']}>
      {data.state === 'saved' ? (
        <KeepTest callId={callId} expiresAt={data.expiresAt} />
      ) : (
        <>
          <Title order={3} size="h6">
            {w.keep}
          </Title>
          <Text size="xs" c="dimmed">
            {w.keepHint}
          </Text>
        </>
      )}
    </div>
  );
}
