/** Starts the page, and keeps it for use without a network. */
import { createApp } from 'vue';
import { App } from './app.tsx';

// The choice that the documentation stores.
const appearance = localStorage.getItem('vitepress-theme-appearance');
if (appearance === 'dark' || appearance === 'light') document.documentElement.style.colorScheme = appearance;
createApp(App).mount('#app');
// Pages without https have no service workers.
navigator.serviceWorker?.register('/inspect/worker.js');
