import { Chip, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { exactClockText } from '../../parts/format.ts';
import { Headings } from '../../parts/page.tsx';
import { say, useWords } from '../../words.ts';
import { detailsOf, EVENT_GROUPS, type EventGroup, groupOf } from './call-events.ts';
import { type Call, drawnAt } from './call-model.ts';
import css from './call.module.css';
import type { Player } from './player.ts';
import { useEventName } from './event-words.ts';
import { type CallTexts, callWords } from './words.ts';

/** More rows than anybody reads would make the page slow. */
const MOST_SHOWN = 1_000;

function groupName(w: CallTexts, group: EventGroup): string {
  const names = {
    floor: w.groupFloor,
    caller: w.groupCaller,
    dialog: w.groupDialog,
    voice: w.groupVoice,
    keys: w.groupKeys,
    transfer: w.groupTransfer,
    line: w.groupLine,
    problems: w.groupProblems,
  };
  return names[group];
}

/** Everything that the record says happened, by kind. */
export function Events({ call, player }: { readonly call: Call; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  const eventName = useEventName();
  const there = EVENT_GROUPS.filter((group) => call.timeline.some((event) => groupOf(event) === group));
  const [shown, setShown] = useState<readonly string[]>(there);
  const events = call.timeline.filter((event) => shown.includes(groupOf(event)));
  return (
    <>
      <Chip.Group multiple value={[...shown]} onChange={setShown}>
        <Group gap={6} mb="xs" component="fieldset" className={css['plain']}>
          <VisuallyHidden component="legend">{w.showGroups}</VisuallyHidden>
          {there.map((group) => (
            <Chip key={group} value={group} size="xs" variant="outline">
              {groupName(w, group)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Text size="xs" c="dimmed" className="figures" aria-live="polite">
        {say(w.eventsShown, { shown: Math.min(events.length, MOST_SHOWN), count: call.timeline.length })}
      </Text>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and so has to be reached by keyboard */}
      <section className={css['eventTable']} tabIndex={0} aria-label={w.events}>
        <Table verticalSpacing={4} fz="sm">
          <Headings names={[w.at, w.turn, w.event, w.details]} />
          <Table.Tbody>
            {events.slice(0, MOST_SHOWN).map((event, index) => {
              const atMs = drawnAt(call, event.atMs);
              return (
                // Two events may be alike in everything but their places.
                <Table.Tr key={index}>
                  <Table.Td>
                    <button
                      type="button"
                      className={css['time']}
                      aria-label={say(w.playFrom, { time: exactClockText(atMs) })}
                      onClick={() => player.playFrom(Math.max(0, atMs))}
                    >
                      {exactClockText(atMs)}
                    </button>
                  </Table.Td>
                  <Table.Td className="figures">{typeof event['turn'] === 'number' ? event['turn'] : ''}</Table.Td>
                  <Table.Td>{eventName(event.type)}</Table.Td>
                  <Table.Td>{detailsOf(event)}</Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}
