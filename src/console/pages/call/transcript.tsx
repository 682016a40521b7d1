import { Button, Group, Text, TextInput, Title, VisuallyHidden } from '@mantine/core';
import { Fragment, memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Empty } from '../../parts/states.tsx';
import { clockText } from '../../parts/format.ts';
import { Said, Told } from '../../parts/transcript.tsx';
import { say, useWords } from '../../words.ts';
import { useOrderText } from '../../parts/orders.ts';
import { type Order, ordersOf } from './call-events.ts';
import { type Call, transcriptText, type Utterance, type Word } from './call-model.ts';
import css from './call.module.css';
import { type Player, usePlayer } from './player.ts';
import { callWords } from './words.ts';

/** A match: `utterance.word`, number of words, from each place found. */
interface Found {
  readonly utterance: number;
  readonly from: number;
  readonly to: number;
}

/** What was said, beside the sound: the word that sounds is marked, words that were never heard are struck through. */
export function Transcript({
  call,
  utterances,
  player,
}: {
  readonly call: Call;
  readonly utterances: readonly Utterance[];
  readonly player: Player;
}): ReactNode {
  const w = useWords(callWords);
  const [wanted, setWanted] = useState('');
  const [place, setPlace] = useState(0);
  const list = useRef<HTMLElement>(null);
  const found = useMemo(() => findAll(utterances, wanted), [utterances, wanted]);
  const orders = useMemo(() => ordersBetween(utterances, ordersOf(call)), [utterances, call]);
  const chosen = found.length === 0 ? undefined : found[place % found.length];
  const now = usePlayer(player, ({ atMs }) => nowOf(utterances, atMs));
  const isPlaying = usePlayer(player, (state) => state.isPlaying);

  useEffect(() => {
    if (chosen !== undefined) showLine(list.current, chosen.utterance);
  }, [chosen]);
  useEffect(() => {
    if (isPlaying) showLine(list.current, now);
  }, [isPlaying, now]);

  if (utterances.length === 0) return <Empty title={w.nothingSaid}>{w.nothingSaidHint}</Empty>;
  const botName = call.mode === 'listen' ? w.other : w.bot;
  const hasUnheard = utterances.some(({ words }) => words.some(({ heard }) => heard !== 'heard'));
  return (
    <section className={css['panel']} aria-label={w.transcript}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h5">
          {w.transcript}
        </Title>
        <CopyButton text={() => transcriptText(utterances, { caller: w.caller, bot: botName, unheard: w.unheard }, clockText)} />
      </Group>
      <Group gap="xs" mb="xs" wrap="nowrap">
        <TextInput
          size="xs"
          flex={1}
          type="search"
          aria-label={w.find}
          placeholder={w.find}
          value={wanted}
          onChange={({ currentTarget }) => {
            setWanted(currentTarget.value);
            setPlace(0);
          }}
          onKeyDown={({ key, shiftKey }) =>
            key === 'Enter' && found.length > 0 && setPlace((at) => at + (shiftKey ? found.length - 1 : 1))
          }
        />
        <Text size="xs" c="dimmed" className="figures" aria-live="polite">
          {wanted.trim() === ''
            ? ''
            : found.length === 0
              ? w.foundNone
              : say(w.found, { at: (place % found.length) + 1, count: found.length })}
        </Text>
      </Group>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and so has to be reached by keyboard */}
      <section className={css['lines']} ref={list} tabIndex={0} aria-label={w.words}>
        {utterances.map((utterance, index) => (
          <Fragment key={`${utterance.turn}${utterance.side}`}>
            <Orders orders={orders[index]} player={player} />
            <Line
              utterance={utterance}
              name={utterance.side === 'caller' ? w.caller : botName}
              isKeyed={
                utterance.side === 'caller' &&
                call.turns.some(({ index: of, inputKind }) => of === utterance.turn && inputKind === 'keyed')
              }
              isNow={index === now}
              player={player}
              found={chosen?.utterance === index ? chosen : undefined}
            />
          </Fragment>
        ))}
        <Orders orders={orders.at(-1)} player={player} />
      </section>
      {hasUnheard ? (
        <Text size="xs" c="dimmed" mt={6}>
          {w.struckHint}
        </Text>
      ) : null}
    </section>
  );
}

/** What operators ordered at one place of the conversation. */
function Orders({ orders = [], player }: { readonly orders: readonly Order[] | undefined; readonly player: Player }): ReactNode {
  const orderText = useOrderText();
  return orders.map(({ atMs, order, by }) => (
    <Told key={`${atMs}${order}`} at={<PlayFrom ms={Math.max(0, atMs)} player={player} />}>
      {orderText(order, by)}
    </Told>
  ));
}

/** Orders before each utterance, by its index, and at the end those after the last one. */
function ordersBetween(utterances: readonly Utterance[], orders: readonly Order[]): Order[][] {
  const between: Order[][] = [...utterances.map(() => []), []];
  for (const order of orders) {
    const next = utterances.findIndex(({ span }) => span !== undefined && span.fromMs > order.atMs);
    between.at(next)?.push(order);
  }
  return between;
}

/** When something was; a press plays from there. */
function PlayFrom({ ms, player }: { readonly ms: number; readonly player: Player }): ReactNode {
  const w = useWords(callWords);
  return (
    <button
      type="button"
      className={css['time']}
      aria-label={say(w.playFrom, { time: clockText(ms) })}
      onClick={() => player.playFrom(ms)}
    >
      {clockText(ms)}
    </button>
  );
}

const Line = memo(function Line({
  utterance: { side, span, words },
  name,
  isKeyed,
  isNow,
  player,
  found,
}: {
  readonly utterance: Utterance;
  readonly name: string;
  readonly isKeyed: boolean;
  readonly isNow: boolean;
  readonly player: Player;
  readonly found: Found | undefined;
}): ReactNode {
  const w = useWords(callWords);
  // Only the line that sounds is drawn again with each word.
  const at = usePlayer(player, ({ atMs }) =>
    isNow ? words.findLastIndex(({ span: of }) => of !== undefined && of.fromMs <= atMs) : -1,
  );
  return (
    <Said
      side={side}
      who={isKeyed ? `${name} (${w.keyed})` : name}
      isNow={isNow}
      at={span === undefined ? null : <PlayFrom ms={span.fromMs} player={player} />}
    >
      {words.length === 0 ? <em className={css['unheard']}>{w.notUnderstood}</em> : null}
      {words.map((word, index) => (
        // Words repeat, and never change their places.
        <Spoken
          key={`${index}${word.text}`}
          word={word}
          isNow={index === at}
          isFound={found !== undefined && index >= found.from && index <= found.to}
          player={player}
          cutText={w.half}
        />
      ))}
    </Said>
  );
});

/** Words are played by pointer; by keyboard their line is, and the position beside. */
function Spoken({
  word: { text, heard, span },
  isNow,
  isFound,
  player,
  cutText,
}: {
  readonly word: Word;
  readonly isNow: boolean;
  readonly isFound: boolean;
  readonly player: Player;
  /** Said of the word that the caller cut. */
  readonly cutText: string;
}): ReactNode {
  const marked = { 'data-now': isNow, 'data-found': isFound, 'data-heard': heard };
  if (heard === 'unheard')
    return (
      <>
        <s className={`${css['word']} ${css['unheard']}`} {...marked}>
          {text}
        </s>{' '}
      </>
    );
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the line's button does the same by keyboard */}
      <span
        className={`${css['word']} ${heard === 'half' ? css['half'] : ''}`}
        data-spoken={span !== undefined}
        onClick={span && (() => player.playFrom(span.fromMs))}
        {...marked}
      >
        {text}
        {heard === 'half' ? (
          <>
            —<VisuallyHidden>({cutText})</VisuallyHidden>
          </>
        ) : null}
      </span>{' '}
    </>
  );
}

function CopyButton({ text }: { readonly text: () => string }): ReactNode {
  const w = useWords(callWords);
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Pages that came over plain http have no clipboard.
    if (isSecureContext) await navigator.clipboard.writeText(text());
    else save(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button size="compact-sm" variant="default" onClick={() => void copy()}>
      <span aria-live="polite">{copied ? w.copied : w.copy}</span>
    </Button>
  );
}

function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = 'transcript.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Index of the utterance that sounds, or sounded last; −1 before the first. */
function nowOf(utterances: readonly Utterance[], atMs: number): number {
  return utterances.findLastIndex(({ span }) => span !== undefined && span.fromMs <= atMs);
}

function showLine(list: HTMLElement | null, index: number): void {
  const line = list?.querySelectorAll(':scope > [data-side]:not([data-side="event"])').item(index);
  if (list === null || !(line instanceof HTMLElement)) return;
  const [top, bottom] = [line.offsetTop - list.offsetTop, line.offsetTop - list.offsetTop + line.offsetHeight];
  if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTo({ top: top - 40 });
}

/** Every place of a text, across words; case does not count. */
function findAll(utterances: readonly Utterance[], wanted: string): Found[] {
  const sought = wanted.trim().toLocaleLowerCase();
  if (sought === '') return [];
  return utterances.flatMap(({ words }, utterance) => {
    const starts: number[] = [];
    let text = '';
    for (const word of words) {
      starts.push(text.length);
      text += `${word.text.toLocaleLowerCase()} `;
    }
    const found: Found[] = [];
    for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) {
      const wordAt = (character: number): number => starts.findLastIndex((start) => start <= character);
      found.push({ utterance, from: wordAt(at), to: wordAt(at + sought.length - 1) });
    }
    return found;
  });
}
