import { Alert, Badge, Box, Button, Group, List, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { CallAnalysis } from '../../../records/analysis/document.ts';
import { post } from '../../api.ts';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { clockText, useFormat } from '../../parts/format.ts';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Call, RecognisedWord } from './call-model.ts';
import type { Player } from './player.ts';
import { type Analyses as AnalysesOfCall, pathOf, useAnalyses } from './queries.ts';
import { callWords } from './words.ts';

/** An analysis as far as this page reads it: older documents lack what a profile adds. */
type Document = Partial<CallAnalysis>;
type Evidence = NonNullable<Document['fields']>[number]['evidence'][number];

/** When the caller's words were said, as the analysis heard them in the recording. */
export function recognisedWords(found: AnalysesOfCall | undefined): readonly RecognisedWord[] {
  for (const { document } of found?.analyses ?? []) {
    const [caller] = (document as Document).channels ?? [];
    if (caller?.source !== 'live' && caller?.words !== undefined && caller.words.length > 0) return caller.words;
  }
  return [];
}

/** One that has not come by then was given up, or waits behind others: the call's own state says which. */
const LONGEST_ANALYSIS_MS = 120_000;

/** What the analyses say of the call, with the words that they rest on. */
export function Analyses({ call, player }: { readonly call: Call; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  const mayAsk = useMay('analyses:write');
  const [awaited, setAwaited] = useState<string>();
  const { data, error, refetch } = useAnalyses(call.id, awaited !== undefined);
  const client = useQueryClient();
  useEffect(() => {
    if (awaited === undefined) return undefined;
    const timer = setTimeout(() => setAwaited(undefined), LONGEST_ANALYSIS_MS);
    return () => {
      clearTimeout(timer);
      void client.invalidateQueries({ queryKey: ['call', call.id], exact: true });
    };
  }, [awaited, call.id, client]);
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const stamp = stampOf(data);
  if (awaited !== undefined && awaited !== stamp) setAwaited(undefined);
  return (
    <Stack gap="md">
      {mayAsk && call.endedAt !== null ? (
        <Again callId={call.id} profiles={data.profiles} isAwaited={awaited !== undefined} onAsked={() => setAwaited(stamp)} />
      ) : null}
      <Box aria-live="polite">
        {awaited !== undefined || call.analysis === 'pending' ? <Text size="sm">{w.analysisPending}</Text> : null}
        {call.analysis === 'failed' && data.analyses.length === 0 ? (
          <Alert variant="default" role="alert">
            {w.analysisFailed}
          </Alert>
        ) : null}
      </Box>
      {data.analyses.length === 0 && call.analysis !== 'failed' ? <Empty title={w.noAnalysis}>{w.noAnalysisHint}</Empty> : null}
      {data.analyses.map((analysis) => (
        <Box key={`${analysis.profile}/${analysis.version}`} component="article">
          <Group gap="xs" mb={4}>
            <Title order={3} size="h6">
              {analysis.profile}
            </Title>
            <Text size="xs" c="dimmed">
              <Moment at={analysis.createdAt} />
            </Text>
            {analysis.disposition === null ? null : (
              <Badge variant="default" tt="none">
                {analysis.disposition}
              </Badge>
            )}
            {analysis.score === null ? null : (
              <Text size="sm" className="figures">
                {w.score}: {analysis.score}
              </Text>
            )}
          </Group>
          <Findings document={analysis.document as Document} player={player} />
        </Box>
      ))}
    </Stack>
  );
}

/** Another one has come when this is another. */
function stampOf({ analyses }: AnalysesOfCall): string {
  return analyses.map(({ profile, createdAt }) => `${profile} ${createdAt}`).join();
}

function Again({
  callId,
  profiles,
  isAwaited,
  onAsked,
}: {
  readonly callId: string;
  readonly profiles: readonly string[];
  readonly isAwaited: boolean;
  readonly onAsked: () => void;
}): ReactNode {
  const w = useWords(callWords);
  const [profile, setProfile] = useState(profiles.includes('default') ? 'default' : (profiles[0] ?? 'default'));
  const ask = useMutation({ mutationFn: () => post(pathOf(callId, '/analyses'), { profile }), onSuccess: onAsked });
  return (
    <Box>
      <Group gap="xs" align="end">
        <Select
          size="xs"
          label={w.profile}
          data={[...profiles]}
          value={profile}
          allowDeselect={false}
          onChange={(value) => value !== null && setProfile(value)}
        />
        <Button size="xs" variant="default" loading={ask.isPending || isAwaited} onClick={() => ask.mutate()}>
          {w.analyse}
        </Button>
      </Group>
      {ask.error === null ? null : (
        <Text size="sm" c="red" role="alert">
          {ask.error.message}
        </Text>
      )}
    </Box>
  );
}

function Findings({ document, player }: { readonly document: Document; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  const format = useFormat();
  const { insights = {}, fields = [], missing = [], quality, disposition, measures, talkRatio, problems = [] } = document;
  const said = [
    [w.summary, insights.summary],
    [w.intent, insights.intent],
    [w.sentiment, insights.sentiment],
    [w.keyTerms, insights.keyTerms?.join(', ')],
    [w.speechShare, talkRatio === undefined || talkRatio === null ? undefined : format.share(talkRatio, 1)],
    [w.silence, measures === undefined ? undefined : format.duration(measures.longestSilenceS * 1000)],
  ] as const;
  return (
    <Stack gap={6}>
      {said.map(([name, value]) =>
        value === undefined || value === '' ? null : (
          <Text key={name} size="sm">
            <Text span c="dimmed" size="sm">
              {name}:
            </Text>{' '}
            {value}
          </Text>
        ),
      )}
      {disposition === undefined ? null : (
        <Text size="sm" component="div">
          <Text span c="dimmed" size="sm">
            {w.disposition}:
          </Text>{' '}
          {disposition.label ?? disposition.value ?? disposition.reason ?? w.unknown}
          <Quotes of={disposition.grounds.filter((ground) => ground.kind === 'words')} player={player} />
        </Text>
      )}
      {fields.length === 0 ? null : (
        <Box>
          <Text size="sm" fw={600}>
            {w.fields}
          </Text>
          <List size="sm">
            {fields.map(({ name, value, evidence }) => (
              <List.Item key={name}>
                {name}: <b>{String(value)}</b>
                <Quotes of={evidence} player={player} />
              </List.Item>
            ))}
          </List>
        </Box>
      )}
      {missing.length === 0 ? null : <Text size="sm">{say(w.missing, { names: missing.join(', ') })}</Text>}
      {quality === undefined ? null : (
        <Box>
          <Text size="sm" fw={600}>
            {w.checklist}
          </Text>
          <List size="sm">
            {quality.items.map(({ id, question, result, reason, grounds }) => (
              <List.Item key={id}>
                {question} <b>{w[result]}</b>
                {reason === undefined ? '' : ` (${reason})`}
                <Quotes of={grounds.filter((ground) => ground.kind === 'words')} player={player} />
              </List.Item>
            ))}
          </List>
        </Box>
      )}
      {problems.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {w.problems}: {problems.join('; ')}
        </Text>
      )}
    </Stack>
  );
}

/** Words that a finding rests on; each plays its place. */
function Quotes({ of, player }: { readonly of: readonly Evidence[]; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  return of.map(({ text, role, startS, from, segment }) => (
    <Group key={`${segment}.${from}`} gap={6} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => player.playFrom(startS * 1000)}
        aria-label={say(w.playFrom, { time: clockText(startS * 1000) })}
      >
        ▶ {clockText(startS * 1000)}
      </Button>
      <Text size="xs" c="dimmed">
        {role}: “{text}”
      </Text>
    </Group>
  ));
}
