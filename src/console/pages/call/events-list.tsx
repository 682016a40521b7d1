import { useWords, words, say } from '../../words.ts';
import { nameIn, type CallTexts, callWords } from './words.ts';
import { Chip, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { exactClockText } from '../../parts/format.ts';
import { useOrderText } from '../../parts/orders.ts';
import { Headings } from '../../parts/states.tsx';
import { detailsOf, EVENT_GROUPS, type EventGroup, groupOf } from './call-events.ts';
import { type Call, drawnAt } from './call-model.ts';
import css from './call.module.css';
import type { Player } from './player.ts';

/** Events of a timeline by their types. */
export const eventWords = words(
  {
    attached: 'Line connected',
    detached: 'Line closed',
    'caller-committed': 'Caller’s turn over',
    final: 'Words recognised',
    'asked-early': 'Dialog asked early',
    'early-answer': 'Early answer',
    'dialog-asked': 'Dialog asked',
    'dialog-answered': 'Dialog answered',
    'tts-asked': 'Speech asked for',
    'tts-first-byte': 'First audio',
    'first-frame': 'Reply begins',
    'bot-finished': 'Reply heard out',
    hold: 'Hold',
    resume: 'Resumed',
    restore: 'Restored',
    clear: 'Cleared: caller cut in',
    digit: 'Key pressed',
    'digits-sent': 'Keys sent',
    filler: 'Filler played',
    ordered: 'Order of an operator',
    'answered-by': 'Answered by',
    'opted-out': 'Opted out',
    speech: 'Speech service',
    transfer: 'Transfer',
    'fail-over': 'Bot’s server down',
    witness: 'Carrier’s detection',
    recogniser: 'Recogniser',
    problem: 'Problem',
  },
  {
    attached: 'लाइन जुड़ी',
    detached: 'लाइन बंद',
    'caller-committed': 'कॉलर की बारी समाप्त',
    final: 'शब्द पहचाने गए',
    'asked-early': 'संवाद से पहले पूछा',
    'early-answer': 'पहले का उत्तर',
    'dialog-asked': 'संवाद से पूछा',
    'dialog-answered': 'संवाद का उत्तर',
    'tts-asked': 'वाणी माँगी',
    'tts-first-byte': 'पहली ध्वनि',
    'first-frame': 'उत्तर शुरू',
    'bot-finished': 'उत्तर पूरा सुना गया',
    hold: 'ठहराव',
    resume: 'फिर शुरू',
    restore: 'लौटाया',
    clear: 'रुका: कॉलर ने टोका',
    digit: 'कुंजी दबाई',
    'digits-sent': 'कुंजियाँ भेजीं',
    filler: 'भराव बजा',
    ordered: 'संचालक का आदेश',
    'answered-by': 'किसने उठाया',
    'opted-out': 'कॉल से मना किया',
    speech: 'वाणी सेवा',
    transfer: 'स्थानांतरण',
    'fail-over': 'बॉट का सर्वर बंद',
    witness: 'कैरियर की पहचान',
    recogniser: 'पहचान',
    problem: 'समस्या',
  },
);

/** What events are called; an event that this page does not know keeps its own name. */
export function useEventName(): (type: string) => string {
  const texts = useWords(eventWords);
  return (type) => nameIn(texts, type) ?? type;
}

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
  const orderText = useOrderText();
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
                  <Table.Td>{detailsOf(event, orderText)}</Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}
