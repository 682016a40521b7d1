import { Button, type ButtonProps, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useWords, words } from '../words.ts';
import { Failure } from './states.tsx';

const texts = words(
  { close: 'Close', cancel: 'Cancel', reason: 'Reason', reasonOptional: 'Reason (may be left out)' },
  { close: 'बंद करें', cancel: 'रद्द करें', reason: 'कारण', reasonOptional: 'कारण (वैकल्पिक)' },
);

export interface Question {
  readonly title: string;
  /** What it means to go on. */
  readonly children?: ReactNode;
  /** On the button that goes on. */
  readonly label: string;
  readonly color?: string | undefined;
  /** Whether a reason is asked for. */
  readonly reason?: 'optional' | 'required' | undefined;
  /** What has to be typed before the button works. */
  readonly typed?: { readonly label: string; readonly word: string };
  /** The button does not work now. */
  readonly isBarred?: boolean;
  /** Closes the dialog when it is done, unless it answers `stay`. What it throws is shown. */
  readonly act: (reason: string | undefined) => Promise<unknown> | void;
}

/** Asks before something is done: `ask` opens the dialog, which is to be shown where `dialog` stands. */
export function useConfirm(question: Question): { readonly ask: () => void; readonly dialog: ReactNode } {
  const w = useWords(texts);
  const [opened, { open, close }] = useDisclosure();
  return {
    ask: open,
    dialog: (
      // Scrolling is locked by a style that the page's policy does not let in.
      <Modal
        opened={opened}
        onClose={close}
        title={question.title}
        centered
        lockScroll={false}
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': w.close }}
      >
        <Asked {...question} close={close} />
      </Modal>
    ),
  };
}

function Asked({
  children,
  label,
  color,
  reason,
  typed,
  isBarred,
  act,
  close,
}: Question & { readonly close: () => void }): ReactNode {
  const w = useWords(texts);
  const [given, setGiven] = useState('');
  const [word, setWord] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const mayGoOn = isBarred !== true && (typed === undefined || word === typed.word);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      if ((await act(given.trim() === '' ? undefined : given.trim())) !== 'stay') close();
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (mayGoOn) void run();
      }}
    >
      <Stack gap="sm">
        {typeof children === 'string' ? <Text fz="sm">{children}</Text> : children}
        {reason === undefined ? null : (
          <TextInput
            label={reason === 'required' ? w.reason : w.reasonOptional}
            value={given}
            maxLength={200}
            required={reason === 'required'}
            onChange={({ currentTarget }) => setGiven(currentTarget.value)}
            data-autofocus
          />
        )}
        {typed === undefined ? null : (
          <TextInput
            label={typed.label}
            value={word}
            autoComplete="off"
            onChange={({ currentTarget }) => setWord(currentTarget.value.trim())}
            data-autofocus
          />
        )}
        {error === undefined ? null : <Failure error={error} />}
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={close}
            data-autofocus={reason === undefined && typed === undefined ? true : undefined}
          >
            {w.cancel}
          </Button>
          <Button type="submit" loading={isBusy} disabled={!mayGoOn} {...(color === undefined ? {} : { color })}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A button that asks first. @param of what it is about, for screen readers, where several have one label */
export function ConfirmButton({
  variant = 'default',
  size,
  of,
  isDisabled = false,
  ...question
}: Question & {
  readonly variant?: string;
  readonly size?: ButtonProps['size'] & {};
  readonly of?: string;
  readonly isDisabled?: boolean;
}): ReactNode {
  const { ask, dialog } = useConfirm(question);
  const { color, label } = question;
  return (
    <>
      <Button
        variant={variant}
        {...(color === undefined ? {} : { color })}
        {...(size === undefined ? {} : { size })}
        {...(of === undefined ? {} : { 'aria-label': `${label} ${of}` })}
        disabled={isDisabled}
        onClick={ask}
      >
        {label}
      </Button>
      {dialog}
    </>
  );
}
