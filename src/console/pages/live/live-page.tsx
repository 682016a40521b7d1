import { Alert, Anchor, Button, Code, Group, Select, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useLiveCalls } from '../../live/live.ts';
import type { LiveCallView } from '../../live/watch-client.ts';
import { useFormat } from '../../parts/format.ts';
import { Page, Empty, Loading } from '../../parts/states.tsx';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import { CallsTable } from './calls-table.tsx';
import classes from './live.module.css';
import { LIVE_CALLS_KEY } from './live-badge.tsx';
import { Floor, type Phase, PHASES } from './standing.tsx';
import { liveWords, phaseWords } from './words.ts';

/** Every call of the gateway as it goes. The filter is in the address. */
export function LivePage(): ReactNode {
  const w = useWords(liveWords);
  const { calls, known, connection } = useLiveCalls();
  const client = useQueryClient();
  // The menu's number is that of this page.
  useEffect(() => {
    if (known) client.setQueryData(LIVE_CALLS_KEY, { calls });
  }, [client, known, calls]);
  const [search, setSearch] = useSearchParams();
  const filter = { text: search.get('text') ?? '', bot: search.get('bot') ?? '', phase: search.get('phase') ?? '' };
  const set = (name: keyof typeof filter, value: string) =>
    setSearch(
      (before) => {
        if (value === '') before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const text = useDeferredValue(filter.text.trim().toLocaleLowerCase());
  const shown = isFiltered ? calls.filter((call) => fits(call, { ...filter, text })) : calls;
  return (
    <Page
      title={w.title}
      actions={
        known && calls.length > 0 ? <Summary calls={calls} choose={(phase) => set('phase', phase)} chosen={filter.phase} /> : null
      }
    >
      {connection === 'lost' ? (
        <Alert color="yellow" variant="light" mb="sm" p="xs">
          {w.lost}
        </Alert>
      ) : null}
      {!known ? (
        <Loading />
      ) : calls.length === 0 ? (
        <NoCalls />
      ) : (
        <>
          <Group gap="xs" mb="sm" component="search">
            <TextInput
              aria-label={w.filter}
              placeholder={w.filter}
              value={filter.text}
              onChange={({ currentTarget }) => set('text', currentTarget.value)}
              className={classes['filter']}
            />
            <Select
              aria-label={w.bot}
              placeholder={w.allBots}
              data={[...new Set(calls.map(({ bot }) => bot))].toSorted()}
              value={filter.bot === '' ? null : filter.bot}
              onChange={(bot) => set('bot', bot ?? '')}
              clearable
              w={170}
            />
            <PhaseSelect value={filter.phase} choose={(phase) => set('phase', phase)} />
            {isFiltered ? (
              <>
                <Button variant="subtle" size="compact-sm" onClick={() => setSearch({}, { replace: true })}>
                  {w.clear}
                </Button>
                <Text component="output" size="sm" c="dimmed" className="figures">
                  {say(w.shown, { shown: shown.length, count: calls.length })}
                </Text>
              </>
            ) : null}
          </Group>
          {shown.length === 0 ? <Empty title={w.nothing} /> : <CallsTable calls={shown} />}
        </>
      )}
    </Page>
  );
}

function fits(
  call: LiveCallView,
  { text, bot, phase }: { readonly text: string; readonly bot: string; readonly phase: string },
): boolean {
  if (bot !== '' && call.bot !== bot) return false;
  if (phase !== '' && call.phase !== phase) return false;
  if (text === '') return true;
  const { id, from, to, carrier, takenOver, words } = call;
  return [id, call.bot, from, to, carrier, takenOver ?? '', words?.caller ?? '', words?.bot ?? '']
    .join('\n')
    .toLocaleLowerCase()
    .includes(text);
}

function PhaseSelect({ value, choose }: { readonly value: string; readonly choose: (phase: string) => void }): ReactNode {
  const w = useWords(liveWords);
  const names = useWords(phaseWords);
  return (
    <Select
      aria-label={w.phase}
      placeholder={w.allPhases}
      data={PHASES.map((phase) => ({ value: phase, label: names[phase] }))}
      value={value === '' ? null : value}
      onChange={(phase) => choose(phase ?? '')}
      clearable
      w={170}
    />
  );
}

/** Number of calls, floors, and the slowest last reply. */
function Summary({
  calls,
  chosen,
  choose,
}: {
  readonly calls: readonly LiveCallView[];
  readonly chosen: string;
  readonly choose: (phase: string) => void;
}): ReactNode {
  const w = useWords(liveWords);
  const { duration } = useFormat();
  const counts = new Map<Phase, number>();
  for (const { phase } of calls) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  const [first, ...others] = calls;
  if (first === undefined) return null;
  const slowest = others.reduce((worst, call) => (replyOf(call) > replyOf(worst) ? call : worst), first);
  return (
    <Group gap="md" className="figures">
      <Text fw={600}>{calls.length === 1 ? w.countOne : say(w.count, { count: calls.length })}</Text>
      <Group gap={4} visibleFrom="md">
        {PHASES.filter((phase) => counts.has(phase)).map((phase) => (
          <button
            type="button"
            key={phase}
            className={classes['count']}
            aria-pressed={chosen === phase}
            onClick={() => choose(chosen === phase ? '' : phase)}
          >
            <Floor phase={phase} /> {counts.get(phase)}
          </button>
        ))}
      </Group>
      {replyOf(slowest) > 0 ? (
        <Anchor component={Link} href={`/live/${slowest.id}`} size="sm">
          {say(w.worst, { time: duration(replyOf(slowest)) })}
        </Anchor>
      ) : null}
    </Group>
  );
}

function replyOf({ health }: LiveCallView): number {
  return health.lastReplyMs ?? 0;
}

function NoCalls(): ReactNode {
  const w = useWords(liveWords);
  const mayTalk = useMay('calls:talk');
  return (
    <Empty title={w.none}>
      {w.noneHint}
      <br />
      {mayTalk ? (
        <>
          <Anchor component={Link} href="/talk" underline="always">
            {w.talk}
          </Anchor>
          , {w.orShell}{' '}
        </>
      ) : null}
      <Code>offhook call</Code>
    </Empty>
  );
}
