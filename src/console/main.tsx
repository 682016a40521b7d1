import './mantine.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
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
import { theme, themeVariables } from './theme.ts';
import { firstLanguage, type Language, LanguageContext } from './words.ts';

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
    <MantineProvider theme={theme} cssVariablesResolver={themeVariables} defaultColorScheme="auto" getStyleNonce={styleNonce}>
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
