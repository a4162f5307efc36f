<?php

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

final class CollectAgents
{
    public function handle(Request $request, Closure $next): Response
    {
        return $next($request);
    }

    /** Laravel calls this when the answer has been sent. */
    public function terminate(Request $request, Response $response): void
    {
        defined('FIRSTPICK_MANUAL') || define('FIRSTPICK_MANUAL', true);
        require_once base_path('agent-collect.php');
        \AgentCollect::touch($response->getStatusCode(), 'laravel');
    }
}
