import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useWords, words } from '../words.ts';
import { Failure } from './states.tsx';

const texts = words({ close: 'Close' }, { close: 'बंद करें' });

/** A form in a dialog, which closes when its act is done. What the act throws is shown. */
export function FormDialog({
  opened,
  close,
  title,
  label,
  act,
  remedy,
  children,
}: {
  readonly opened: boolean;
  readonly close: () => void;
  readonly title: string;
  /** On the button. */
  readonly label: string;
  readonly act: () => Promise<void>;
  /** What else can be done about an error, beside the button. */
  readonly remedy?: (error: Error) => ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  const w = useWords(texts);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await act();
      close();
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={title}
      centered
      lockScroll={false}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': w.close }}
      // Beside the page's own header, this one is no second banner.
      attributes={{ header: { role: 'presentation' } }}
    >
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="sm">
          {children}
          {error === undefined ? null : <Failure error={error} />}
          <Group justify="flex-end">
            {error === undefined ? null : remedy?.(error)}
            <Button type="submit" loading={isBusy}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
