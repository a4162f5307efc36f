<?php
// The site of all stacks, behind the server of the php command.
require_once __DIR__ . '/agent-collect.php';

$found = ['/', '/docs', '/docs.md', '/robots.txt', '/llms.txt', '/sitemap.xml', '/openapi.json', '/.well-known/agent.json', '/style.css', '/logo.png', '/_next/static/app.js'];
$path = explode('?', $_SERVER['REQUEST_URI'])[0];
if ($path === '/boom') {
    throw new RuntimeException('boom');
}
http_response_code(in_array($path, $found, true) ? 200 : 404);
echo "this is $path";
