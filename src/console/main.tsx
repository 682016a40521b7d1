import './mantine.css';
import './console.css';
import { createTheme, type CSSVariablesResolver, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, StrictMode, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { Refused } from './api.ts';
import { loaded } from './parts/loaded.ts';
import { styleNonce } from './parts/style-nonce.ts';
import { AccountMenu } from './pages/sign-in/account-menu.tsx';
import { SessionGate, takeSignInCode } from './session.tsx';
import { Shell } from './shell.tsx';
import { firstLanguage, type Language, LanguageContext } from './words.ts';

/** Teal of the mark: shade 7 carries white text, shade 4 stands on dark. */
const theme = createTheme({
  primaryColor: 'offhook',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  colors: {
    offhook: ['#e6f8f5', '#c9ede8', '#9edcd3', '#6fc9bd', '#46b6a8', '#22a192', '#11897c', '#0b7267', '#095b53', '#06443e'],
  },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Devanagari", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '600' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
});

/** Mantine's own grey texts are too faint for WCAG AA. */
const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#545d69',
    '--mantine-color-placeholder': '#68707b',
    '--mantine-color-anchor': '#0b7267',
    '--mantine-color-error': '#b3261e',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b1bb',
    '--mantine-color-placeholder': '#98a1ab',
    '--mantine-color-anchor': '#6fc9bd',
    '--mantine-color-error': '#ff8a80',
  },
});

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What was refused is refused again.
      retry: (count, error) => !(error instanceof Refused) && count < 2,
      staleTime: 5_000,
    },
  },
});

/** Most who open the page are signed in already. */
const SignIn = loaded(() => import('./pages/sign-in/sign-in.tsx'), 'SignIn');

function App(): ReactNode {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const chosen = useMemo(
    () => ({
      language,
      choose(next: Language) {
        localStorage.setItem('offhook.language', next);
        setLanguage(next);
      },
    }),
    [language],
  );
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queries}>
        <LanguageContext value={chosen}>
          <Router base="/console">
            <SessionGate signIn={SignIn}>
              <Shell account={<AccountMenu />} />
            </SessionGate>
          </Router>
        </LanguageContext>
      </QueryClientProvider>
    </MantineProvider>
  );
}

takeSignInCode();
// A link that is pasted over the open page changes nothing but the fragment.
addEventListener('hashchange', () => {
  if (/^#(?:code|refused)=/u.test(location.hash)) location.reload();
});
// By this name what locks the page behind a dialog looks for it.
Reflect.set(globalThis, '__webpack_nonce__', styleNonce());
const root = document.querySelector('#root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
